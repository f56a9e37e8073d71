// Pictures of a story. They are asked for like everything else, for an address in `src` could not send the key.
import { html, useEffect, useState } from "../lib/dom.js";
import { Failure, path, send } from "../lib/api.js";

/** The picture at an address of the API; nothing if there is none. It is asked for again when `version` changes. */
export function Picture({ from, turn = null, version, alt = "", name }) {
  const [source, put] = useState(null);
  useEffect(() => {
    if (!version) return undefined;
    let address = null;
    let left = false;
    send("GET", from, { query: { turn } }).then((response) => response.blob()).then((blob) => {
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
  }, [from, version]);
  return source && html`<img class=${name} src=${source} alt=${alt} data-item=${name} onError=${() => put(null)} />`;
}

export function Portrait({ story }) {
  return html`<${Picture} name="portrait" from=${path`api/sessions/${story.id}/portrait`} version=${story.portrait} />`;
}
