export interface Part {
  text: string
  /** Such as `U+202E`, where the text is a character that is not seen. */
  name?: string
}

/**
 * Control characters, those that change the direction, those without width, lone surrogates, private ones, line separators, spaces other
 * than the plain one, and letters that look like nothing.
 */
const ODD = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]|[\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/gu

/** The text, with what is not seen named. */
export const visible = (text: string): Part[] => {
  const parts: Part[] = []
  let from = 0
  for (const { 0: odd, index } of text.matchAll(ODD)) {
    if (index > from) parts.push({ text: text.slice(from, index) })
    parts.push({ text: odd, name: nameOf(odd) })
    from = index + odd.length
  }
  if (from < text.length) parts.push({ text: text.slice(from) })
  return parts
}

/** The same as one text, for titles and names that hold no elements. */
export const plain = (text: string): string => text.replace(ODD, odd => `[${nameOf(odd)}]`)

const nameOf = (odd: string) => `U+${odd.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`
