import { type Limits, overLimit } from '../limits/index.ts'
import { elements, isObject, type JsonNode, known, string, where } from './json-node.ts'
import type { SourceFilter } from './request.ts'

/** `true`, `"pattern"`, `["pattern"]` or `{"includes": …, "excludes": …}`. */
export const parseSource = (place: JsonNode, limits: Limits): SourceFilter => {
  const { value } = place
  if (typeof value === 'boolean') return value
  if (!isObject(value)) return checkedPatterns({ includes: elements(place), excludes: [] }, limits)
  const { includes, include, excludes, exclude } = known(
    place,
    'an object such as {"includes": ["event", "args"]}',
    ['includes', 'excludes', 'include', 'exclude'],
    [],
  )
  const all = (...places: (JsonNode | undefined)[]) => places.flatMap(at => (at === undefined ? [] : elements(at)))
  return checkedPatterns({ includes: all(includes, include), excludes: all(excludes, exclude) }, limits)
}

const checkedPatterns = (
  { includes, excludes }: { includes: JsonNode[]; excludes: JsonNode[] },
  limits: Limits,
): SourceFilter => {
  if (includes.length + excludes.length > limits.sourcePatterns) throw overLimit('sourcePatterns', limits)
  const read = (at: JsonNode) => {
    const pattern = string(at, 'the name of a field, or a list of names')
    if (pattern.length > limits.text) throw overLimit('text', limits, where(at))
    return pattern
  }
  return { includes: includes.map(read), excludes: excludes.map(read) }
}
