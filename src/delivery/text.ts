/** Makes hostile text from the chain safe for messages, and limits its length. */

/**
 * One line without control, bidirectional and tag characters; lone surrogates become U+FFFD.
 */
export const plainLine = (text: string): string => text.toWellFormed().replace(BREAKS, ' ').replace(UNREADABLE, '')

/** As `plainLine`, but keeps line breaks, for texts of rule owners. */
export const plainLines = (text: string): string =>
  text
    .toWellFormed()
    .replace(/\r\n?|[\u2028\u2029\u0085]/g, '\n')
    .split('\n')
    .map(plainLine)
    .join('\n')

/** Cuts to `max` UTF-16 units with an ellipsis; never splits a surrogate pair. */
export const cutText = (text: string, max: number): string => {
  if (text.length <= max) return text
  if (max <= 0) return ''
  const end = max - 1
  return `${text.slice(0, isHigh(text.charCodeAt(end - 1)) ? end - 1 : end)}…`
}

/** As `cutText`, but never splits entities such as `&amp;`. */
export const cutEscaped = (text: string, max: number): string => {
  const cut = cutText(text, max)
  return cut === text ? text : cut.replace(/&[a-z#\d]{0,6}\u2026$/i, '…')
}

export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, character => ENTITIES[character]!)

/** Escapes as Slack requires: `<!channel>` and `<https://…|link>` become plain text. */
export const escapeChat = (text: string): string => text.replace(/[&<>]/g, character => ENTITIES[character]!)

/** Disarms `@everyone` and the like by a zero-width space behind each @. */
export const withoutMentions = (text: string): string => text.replace(/[@\uff20]/g, '$&\u200b')

/** A value in a code span, which it cannot leave: no markdown, link or emoticon works there. */
export const chatValue = (text: string): string => {
  const inside = cutText(plainLine(text), MAX_SHOWN_VALUE).replaceAll('`', "'").trim()
  return `\`${escapeChat(withoutMentions(inside === '' ? '(empty)' : inside))}\``
}

/** Shown length of a field, in UTF-16 units before escaping. */
export const MAX_SHOWN_VALUE = 500

const isHigh = (unit: number): boolean => (unit & 0xfc00) === 0xd800

const BREAKS = /[\t\n\v\f\r\u0085\u2028\u2029]+/g
/** Control, bidirectional, tag characters and soft hyphens. Emoji need the two joiners. */
const UNREADABLE = /[[\p{Cc}\p{Cf}]--[\u200c\u200d]]/gv
const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
