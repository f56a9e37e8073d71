// What the browser keeps: the key for this tab alone, and taste (language, colours) for good. Browsers may refuse either.

function of(storage) {
  return {
    read(name) {
      try {
        return window[storage].getItem(`saga.${name}`);
      } catch {
        return null; // storage is switched off: the page works, and asks again next time
      }
    },
    write(name, value) {
      try {
        if (value === null) window[storage].removeItem(`saga.${name}`);
        else window[storage].setItem(`saga.${name}`, value);
      } catch {
        return; // as above
      }
    },
  };
}

export const thisTab = of("sessionStorage");
export const taste = of("localStorage");
