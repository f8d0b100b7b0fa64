import type { Kind } from '../../api/wire.ts'

export interface Suggestion {
  text: string
  kind: string
  field: string
  entity: string
  address?: string
}

/** The word that ends where the text is written on. */
export const wordBefore = (text: string, caret: number): { from: number; word: string } => {
  const [word] = /[^\s():"{}[\]]*$/.exec(text.slice(0, caret))!
  return { from: caret - word.length, word }
}

/** The text with what was chosen instead of the word, where its cursor goes, and a kind that it needs. */
export const choose = (text: string, caret: number, { text: chosen, kind, field, entity, address }: Suggestion) => {
  const { from, word } = wordBefore(text, caret)
  const isAlone = text.trim() === word
  const isValue = text[from - 1] === ':'
  const quoted = `"${chosen.replace(/["\\]/g, '\\$&')}"`
  const insert =
    kind === 'field'
      ? `${chosen}:`
      : address !== undefined
        ? isAlone || isValue
          ? address
          : `address:${address}`
        : isValue
          ? quoted
          : `${field}:${quoted}`
  const next = text.slice(0, from) + insert + text.slice(caret)
  const needs = entity.split(',') as Kind[]
  return { text: next, caret: from + insert.length, needs: address === undefined ? needs : [] }
}
