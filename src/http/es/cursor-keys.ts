import { elements, type JsonNode, known, string } from '../../query/json-node.ts'
import type { Call } from './endpoint.ts'
import { jsonOf } from './request-body.ts'

/** The members of a small body, all of which must be known; none without a body. */
export const keysOf = async <Name extends string>(
  call: Call,
  names: readonly Name[],
): Promise<Partial<Record<Name, JsonNode>>> => known(await jsonOf(call), 'a JSON object', names, [])

/** Undefined where there is none. */
export const textAt = (place: JsonNode | undefined): string | undefined =>
  place === undefined || place.value === null ? undefined : string(place, 'text')

/** A text, or a list of texts. */
export const textsAt = (place: JsonNode | undefined): string[] =>
  place === undefined || place.value === null ? [] : elements(place).map(at => string(at, 'text, or a list of texts'))
