// What the key of this tab may do: `admin` (everybody, where no key is wanted), `player`, or null as long as it is not known.
import { useRead } from "./api.js";

export function useRole() {
  return useRead("api/me").data?.role ?? null;
}
