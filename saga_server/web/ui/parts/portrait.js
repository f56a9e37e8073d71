// The picture of a story's card. It is asked for like everything else, for an address in `src` could not send the key.
import { html, useEffect, useState } from "../lib/dom.js";
import { Failure, path, send } from "../lib/api.js";

export function Portrait({ story }) {
  const [source, put] = useState(null);
  useEffect(() => {
    if (!story.portrait) return undefined;
    let address = null;
    let left = false;
    send("GET", path`api/sessions/${story.id}/portrait`).then((response) => response.blob()).then((blob) => {
      address = URL.createObjectURL(blob);
      if (left) URL.revokeObjectURL(address);
      else put(address);
    }).catch((error) => {
      if (!(error instanceof Failure)) throw error; // a picture that is gone leaves the name
    });
    return () => {
      left = true;
      if (address) URL.revokeObjectURL(address);
    };
  }, [story.id, story.portrait]);
  return source && html`<img class="portrait" src=${source} alt="" data-item="portrait" onError=${() => put(null)} />`;
}
