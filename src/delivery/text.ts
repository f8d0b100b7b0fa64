/** Text from the chain is hostile: what it may not do in a message, and how long it may get. */

/**
 * On one line, and without what is not for reading: control characters, characters that turn the direction of writing, tags.
 * Halves of surrogate pairs become U+FFFD.
 */
export const plainLine = (text: string): string => text.toWellFormed().replace(BREAKS, ' ').replace(UNREADABLE, '')

/** As `plain`, and line breaks stay: for texts that an owner wrote. */
export const plainLines = (text: string): string =>
  text
    .toWellFormed()
    .replace(/\r\n?|[\u2028\u2029\u0085]/g, '\n')
    .split('\n')
    .map(plainLine)
    .join('\n')

/** At most `max` UTF-16 units, the last of which tells that something was cut; never half of a surrogate pair. */
export const cutText = (text: string, max: number): string => {
  if (text.length <= max) return text
  if (max <= 0) return ''
  const end = max - 1
  return `${text.slice(0, isHigh(text.charCodeAt(end - 1)) ? end - 1 : end)}…`
}

/** As `cutText`, for text with entities such as `&amp;`, none of which is cut in half. */
export const cutEscaped = (text: string, max: number): string => {
  const cut = cutText(text, max)
  return cut === text ? text : cut.replace(/&[a-z#\d]{0,6}\u2026$/i, '…')
}

export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, character => ENTITIES[character]!)

/** Escapes as Slack requires: `<!channel>` and `<https://…|link>` become plain text. */
export const escapeChat = (text: string): string => text.replace(/[&<>]/g, character => ENTITIES[character]!)

/** `@everyone` and the like no longer call anybody: a space without width stands behind each @. */
export const withoutMentions = (text: string): string => text.replace(/[@\uff20]/g, '$&\u200b')

/**
 * A value from the chain in a chat message: inside a code span, where no markdown, link or emoticon means anything, and which it
 * cannot leave.
 */
export const chatValue = (text: string): string => {
  const inside = cutText(plainLine(text), MAX_SHOWN_VALUE).replaceAll('`', "'").trim()
  return `\`${escapeChat(withoutMentions(inside === '' ? '(empty)' : inside))}\``
}

/** Longest value that is shown of one field, in UTF-16 units before it is escaped. */
export const MAX_SHOWN_VALUE = 500

const isHigh = (unit: number): boolean => (unit & 0xfc00) === 0xd800

const BREAKS = /[\t\n\v\f\r\u0085\u2028\u2029]+/g
/** Control characters, and what is there to be obeyed, not seen: direction, tags, soft hyphens. Emoji are joined by two of them. */
const UNREADABLE = /[[\p{Cc}\p{Cf}]--[\u200c\u200d]]/gv
const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
