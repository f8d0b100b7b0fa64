import { refuse } from '../lib/errors.ts'
import type { Limits } from '../limits/index.ts'
import { KINDS, type Kind, lookup } from '../mapping/index.ts'
import { type JsonValue, parseExactJson, textOfJson } from '../query/json.ts'
import {
  bodyNode,
  elements,
  isJsonMap,
  type JsonNode,
  members,
  placeMember,
  toScalar,
  toText,
  unexpected,
  where,
} from '../query/json-node.ts'
import { asText, itself, neededKey, readBodyKeys } from '../query/keys.ts'
import { checkKnown } from '../query/scope.ts'
import { findTarget } from './index-names.ts'
import type { NetworkCaller } from './service.ts'
import type { NetworkStore } from './store.ts'

interface LookupOptions extends NetworkCaller {
  networks: readonly string[]
  limits: Limits
  storeOf(network: string): Pick<NetworkStore, 'get'>
}

/** Whether a clause may name a document instead of values. Other bodies need not be parsed twice. */
export const mayLookUp = (body: Uint8Array | undefined): body is Uint8Array => {
  if (body === undefined || body.length > LONGEST_BODY) return false
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length)
  return bytes.includes('"path"') && LOOKUP.test(bytes.toString('latin1'))
}

/** Bytes that the main thread parses. */
const LONGEST_BODY = 65_536
const LOOKUP = /"terms"\s*:\s*\{[^{}]*\{[^{}]*"path"\s*:/

/**
 * Replaces `{"terms": {"from": {"index": …, "id": …, "path": …}}}` by the values at the path of
 * that document, as Elasticsearch does before a search. Without the document there are no values.
 */
export const withLookups = async (body: Uint8Array, lookups: LookupOptions): Promise<Uint8Array> => {
  const { limits } = lookups
  const root = bodyNode(parseExactJson(Buffer.from(body).toString(), limits))
  const places = [...lookupsIn(root)]
  const [first, last] = [places[0], places[MOST_LOOKUPS]]
  if (first === undefined) return body
  if (last)
    throw refuse(
      'illegal_argument_exception',
      `${where(last)}: a search has at most ${MOST_LOOKUPS} lookups of terms. Use several searches, or list the values.`,
    )
  const values = new Map<JsonValue, JsonValue>()
  for (const place of places) values.set(place.value, await valuesOfLookup(place, lookups))
  return Buffer.from(textOfJson(replaceValues(root.value, values)))
}

const MOST_LOOKUPS = 16

/** Objects with a path that stand for the values of a `terms` clause. */
function* lookupsIn(place: JsonNode): Generator<JsonNode> {
  if (Array.isArray(place.value)) for (const element of elements(place)) yield* lookupsIn(element)
  if (!isJsonMap(place.value)) return
  for (const [name, inner] of members(place, 'an object')) {
    if (name === 'terms' && isJsonMap(inner.value)) {
      for (const [, at] of members(inner, 'an object')) if (isJsonMap(at.value) && at.value.has('path')) yield at
    }
    yield* lookupsIn(inner)
  }
}

const LOOKUP_KEYS = {
  index: neededKey(asText('the name of an index')),
  id: neededKey(at => toScalar(at, 'the id of a document')),
  path: neededKey(itself),
}

const valuesOfLookup = async (
  place: JsonNode,
  { network, networks, limits, storeOf, account, signal }: LookupOptions,
): Promise<readonly JsonValue[]> => {
  const { index, id, path } = readBodyKeys(place, EXPECTED_LOOKUP, LOOKUP_KEYS, ['routing', 'type'])
  const target = findTarget(network, index, networks)
  const kind = target.entities as Kind
  if (!KINDS.includes(kind) || target.network.includes(','))
    throw unexpected(placeMember(place, 'index', index), 'the index of one entity of one network, such as "contract"')
  const name = toText(path, 'the name of a field')
  checkKnown(name, path, { kinds: [kind] })
  const field = lookup(kind, name)!
  const shown = field.encoding === 'raw' ? field.field : field.path
  const { body } = await storeOf(target.network).get({ entity: kind, id, account, signal })
  const answer = Buffer.from(body as Uint8Array).toString()
  const document = parseExactJson(answer, { ...limits, jsonValues: Number.POSITIVE_INFINITY })
  return valuesAtPath(document, ['_source', ...shown.split('.')])
}

const EXPECTED_LOOKUP = 'a list of values, or an object such as {"index": "contract", "id": "0x…", "path": "creator"}'

/** Scalars at a path, through all lists. */
const valuesAtPath = (value: JsonValue | undefined, steps: readonly string[]): readonly JsonValue[] => {
  if (Array.isArray(value)) return value.flatMap((element: JsonValue) => valuesAtPath(element, steps))
  const [step, ...rest] = steps
  if (value instanceof Map) return step === undefined ? [] : valuesAtPath(value.get(step), rest)
  return step !== undefined || value === null || value === undefined ? [] : [value as JsonValue]
}

const replaceValues = (value: JsonValue, values: ReadonlyMap<JsonValue, JsonValue>): JsonValue => {
  const known = values.get(value)
  if (known !== undefined) return known
  if (Array.isArray(value)) return value.map((element: JsonValue) => replaceValues(element, values))
  if (!isJsonMap(value)) return value
  return new Map(Array.from(value, ([name, inner]) => [name, replaceValues(inner, values)]))
}
