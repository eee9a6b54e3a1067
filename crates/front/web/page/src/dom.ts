// Elements of the page.

type Attributes = { [name: string]: string | number | boolean | ((event: Event) => void) };

/** A new element; attributes that are functions are listeners, and children that are texts are escaped. */
export function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(key, value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false) made.setAttribute(key, `${value}`);
  }
  made.append(...children);
  return made;
}

/** The element of the page that is known to be there. */
export function at<E extends HTMLElement>(id: string): E {
  return document.getElementById(id) as E;
}

/** Keeps an element from becoming lower while its width stays: what is below must not move under a reader's hand. */
export function keepHeight(of: HTMLElement): void {
  let [width, height] = [0, 0];
  new ResizeObserver(() => {
    if (of.offsetWidth !== width) {
      [width, height] = [of.offsetWidth, 0];
      of.style.minHeight = "";
    }
    // Whole pixels, so that no fraction of one is given back.
    const needed = Math.ceil(of.getBoundingClientRect().height);
    if (needed > height) {
      height = needed;
      of.style.minHeight = `${height}px`;
    }
  }).observe(of);
}

/** Gives the reader a file. */
export function save(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  element("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
