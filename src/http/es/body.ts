import { refuse } from '../../lib/errors.ts'
import { parseJson } from '../../query/json.ts'
import { bodyNode, elements, type JsonNode, string } from '../../query/json-node.ts'
import { asText, type Keys, key, orNull, readKeys, SCHEMAS, type ValuesOf } from '../../query/keys.ts'
import { readBody, readWithin } from '../body.ts'
import type { Call } from './endpoint.ts'

/** A small body by its keys, all of which must be known; without a body all are absent. */
export const keysOf = async <K extends Keys>(call: Call, keys: K, expected = 'a JSON object'): Promise<ValuesOf<K>> =>
  readKeys(await jsonOf(call), expected, keys, [])

const texts = (place: JsonNode): string[] => elements(place).map(at => string(at, 'text, or a list of texts'))

/** Null counts as absent. */
export const textKey = orNull(asText('text'), SCHEMAS.text)
/** A text, or a list of texts. */
export const textsKey = key(
  (place): string[] => (place === undefined || place.value === null ? [] : texts(place)),
  SCHEMAS.texts,
)

/** URL parameters that hold the body. */
export const BODY_PARAMETERS = ['source', 'source_content_type'] as const

/** The body, or what stands in its place in the URL; undefined where there is neither. */
export const bodyOf = async ({ c, limits, parameters }: Call): Promise<Uint8Array | undefined> => {
  const body = await readBody(c, limits)
  const source = parameters.get('source')
  return body ?? (source === undefined || source === '' ? undefined : Buffer.from(source))
}

/** The body of what is answered here and not by a thread, as text; undefined where there is none. */
const textOf = async (call: Call): Promise<string | undefined> => {
  const body = await readWithin(call.c, 'shortBody', call.limits, limits => bodyOf({ ...call, limits }))
  if (body === undefined) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch (error) {
    throw refuse('parsing_exception', 'The body is not UTF-8.', error)
  }
}

/** The body as JSON with the places of its values; an empty object where there is none. */
export const jsonOf = async (call: Call): Promise<JsonNode> => {
  const text = await textOf(call)
  return bodyNode(text === undefined || text.trim() === '' ? new Map() : parseJson(text, call.limits))
}
