const LONGEST_SHOWN = 100

/** A text from the body, short enough for a message. */
export const cut = (text: string): string =>
  text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN - 1)}…` : text
