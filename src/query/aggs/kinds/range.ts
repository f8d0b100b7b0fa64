import { overLimit } from '../../../limits/index.ts'
import type { Budget } from '../../budget.ts'
import { boolean, elements, type JsonNode, known, string, unexpected, where } from '../../json-node.ts'
import { readDouble } from '../../numbers.ts'
import type { RangeOf } from '../ast.ts'
import { readValues } from '../fields.ts'
import { formatOf } from '../formats.ts'
import type { AggregationKind } from './kind.ts'
import { scripts } from './terms.ts'

export const range: AggregationKind = {
  doc: 'A bucket for each range of a number. `from` is included, `to` is not.',
  example: { field: 'gasUsed.num', ranges: [{ to: 50_000 }, { from: 50_000 }] },
  on: 'tx',
  buckets: true,
  read(place, scope) {
    const keys = known(place, 'an object such as {"field": "gasUsed.num", "ranges": [{"to": 1000}]}', KEYS, [])
    if (keys.script) throw scripts(keys.script)
    const values = readValues(place, keys, scope, 'numeric')
    return {
      kind: 'range',
      values,
      ranges: rangesOf(place, keys.ranges, readDouble, scope.budget),
      keyed: keys.keyed !== undefined && boolean(keys.keyed),
      format: formatOf(scope, place, values, keys),
    }
  },
}

const KEYS = ['field', 'ranges', 'keyed', 'format', 'missing', 'script'] as const

/** In the order of their beginnings, as they are answered. */
export const rangesOf = (
  place: JsonNode,
  given: JsonNode | undefined,
  read: (place: JsonNode) => number,
  budget: Budget,
): RangeOf[] => {
  const list = given === undefined ? [] : elements(given)
  if (list.length === 0) throw unexpected(given ?? place, 'a list of [ranges], one at least')
  const { limits } = budget
  if (list.length > limits.ranges) throw overLimit('ranges', limits, where(given!))
  const value = (at: JsonNode | undefined) => (at === undefined || at.value === null ? undefined : read(at))
  const ranges = list.map(at => {
    const { key, from, to } = known(
      at,
      'an object with [from], [to] and [key]',
      ['key', 'from', 'to'],
      ['from_as_string', 'to_as_string'],
    )
    return { key: key && budget.name(string(key, 'a name'), key), from: value(from), to: value(to) }
  })
  const low = ({ from }: RangeOf) => from ?? Number.NEGATIVE_INFINITY
  const high = ({ to }: RangeOf) => to ?? Number.POSITIVE_INFINITY
  return ranges.sort((a, b) => compare(low(a), low(b)) || compare(high(a), high(b)))
}

const compare = (a: number, b: number): number => (a < b ? -1 : a > b ? 1 : 0)
