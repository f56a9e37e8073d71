// What is dropped or chosen, as files with their paths: of a folder all that is in it.
import { Failure } from "../lib/api.js";

/** The files of a drop, each `{ file, name }`. Entries are there only until the event is over: they are taken first.
    Throws `Failure` for what cannot be read. */
export async function dropped(transfer) {
  const entries = [...transfer.items].map((each) => each.webkitGetAsEntry()).filter(Boolean);
  if (!entries.length) return chosen(transfer.files);
  const found = [];
  for (const entry of entries) {
    if (entry.isDirectory) found.push(...await within(entry));
    else found.push(await asFile(entry));
  }
  return found;
}

/** The files of an input, each `{ file, name }`. */
export function chosen(files) {
  return [...files].filter((file) => !hidden(file.webkitRelativePath)).map((file) => ({ file, name: file.webkitRelativePath || file.name }));
}

async function within(folder) {
  const found = [];
  const open = [folder];
  while (open.length) {
    const reader = open.pop().createReader();
    // A reader gives some at a time, and none at its end.
    for (let rows = await some(reader); rows.length; rows = await some(reader)) {
      for (const each of rows.filter((one) => !hidden(one.name))) {
        if (each.isDirectory) open.push(each);
        else found.push(await asFile(each));
      }
    }
  }
  return found;
}

const some = (reader) => told("", (resolve, reject) => reader.readEntries(resolve, reject));

const asFile = (entry) => told(entry.name, (resolve, reject) => entry.file((file) => resolve({ file, name: entry.fullPath.replace(/^\//, "") }), reject));

/** What a browser answers by calling back. */
function told(name, ask) {
  return new Promise((resolve, reject) => ask(resolve, (error) => reject(new Failure([name, error.message].filter(Boolean).join(": ")))));
}

/** What systems keep beside files. */
const hidden = (path) => path.split("/").some((part) => part.startsWith("."));
