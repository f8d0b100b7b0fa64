import { messageOf, refuse } from '../lib/errors.ts'
import { filledLines } from '../lib/lines.ts'
import { createPauses } from '../lib/scheduling/event-loop.ts'
import { type Limits, overLimit } from '../limits/index.ts'
import { shortenText } from '../query/json.ts'
import { canonicalValue } from '../query/value-list.ts'

/** Reads values of a watch list: one in each line, plain or as a JSON string, or one JSON list. */
export const parseListValues = async (text: Uint8Array | undefined, limits: Limits): Promise<string[]> => {
  const pause = createPauses()
  const values: string[] = []
  for (const value of listTexts(text)) {
    if (values.length === limits.listValues) throw overLimit('listValues', limits)
    values.push(checkListValue(value, limits, `[${values.length}]`))
    await pause()
  }
  if (values.length === 0)
    throw refuse('parsing_exception', 'There is no value: send one in each line, or a JSON list of strings.')
  return values
}

/** Refuses what no list may hold. */
export const checkListValue = (value: string, limits: Limits, at: string): string => {
  if (value === '') throw refuse('validation_exception', `${at} is empty: leave it out.`)
  if (!value.isWellFormed()) throw refuse('validation_exception', `${at} is not valid Unicode.`)
  if (Buffer.byteLength(value) > limits.listValue) throw overLimit('listValue', limits, at)
  return canonicalValue(value)
}

const BRACKET_BYTE = 91

function* listTexts(body: Uint8Array | undefined): Generator<string, void> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  // Copied, since TextDecoder refuses shared memory.
  const textOf = (bytes: Uint8Array, at: string) => {
    try {
      return decoder.decode(Uint8Array.from(bytes)).trim()
    } catch (error) {
      throw refuse('parsing_exception', `${at} is not UTF-8.`, error)
    }
  }
  if (body?.find(byte => byte > SPACE_BYTE) === BRACKET_BYTE) {
    const list = parsedValue(textOf(body, 'The body'), 'The body')
    for (const [index, value] of (list as unknown[]).entries()) yield valueAsText(value, `[${index}]`)
    return
  }
  let index = 0
  for (const line of filledLines(body)) {
    const at = `[${index++}]`
    const text = textOf(line, at)
    if (text.startsWith('{')) throw refuse('parsing_exception', `${at} is an object: write the value alone.`)
    if (text !== '') yield text.startsWith('"') ? valueAsText(parsedValue(text, at), at) : text
  }
}

const SPACE_BYTE = 32

const parsedValue = (text: string, at: string): unknown => {
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    throw refuse('parsing_exception', `${at} is not JSON: ${messageOf(error)}.`, error)
  }
}

const valueAsText = (value: unknown, at: string): string => {
  if (typeof value === 'string') return value
  throw refuse('validation_exception', `${at} must be a string, not ${shortenText(JSON.stringify(value))}.`)
}
