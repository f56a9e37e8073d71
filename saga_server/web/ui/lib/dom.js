// Preact and htm, as all files of the pages use them. Text that stands in a template becomes a text node, never markup.
import { Component, Fragment, h, render } from "../vendor/preact.js";
import { useCallback, useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "../vendor/hooks.js";
import htm from "../vendor/htm.js";

export const html = htm.bind(h);
export { Component, Fragment, render, useCallback, useEffect, useId, useLayoutEffect, useMemo, useRef, useState };
