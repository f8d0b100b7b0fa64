import { integer, type JsonNode, unexpected } from '../../json-node.ts'
import { alongHistogram } from './inside.ts'
import { simpleValue } from './pipeline.ts'

export const serialDiff = alongHistogram(
  'The difference to the bucket `lag` places earlier.',
  ['lag', 'gap_policy'],
  ({ lag }, format) => {
    const places = lagOf(lag)
    return () => {
      const before: (number | undefined)[] = []
      return value => {
        const earlier = before.length < places ? undefined : before.shift()
        before.push(value)
        const difference = (value ?? Number.NaN) - (earlier ?? Number.NaN)
        return Number.isNaN(difference) ? undefined : simpleValue(difference, format)
      }
    }
  },
  { lag: 7 },
)

const lagOf = (place: JsonNode | undefined): number => {
  if (place === undefined) return 1
  const lag = integer(place, EXPECTED)
  if (lag < 1) throw unexpected(place, EXPECTED)
  return lag
}

const EXPECTED = 'a positive, non-zero integer'
