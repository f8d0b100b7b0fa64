import { blockAt } from '../../index/segment.ts'
import { type Leaf, testOf } from '../fields/condition.ts'
import { EVERYTHING, type Planner } from './plan.ts'

/** Conditions on numbers and times of blocks. */

export const blockNumber: Planner = leaf => {
  if (leaf.field.encoding === 'num' || leaf.field.encoding === 'dec') return { by: 'blocks', runs: runsOf(leaf) }
  if (leaf.op === 'exists') return EVERYTHING
  if (leaf.op !== 'in') {
    const test = testOf(leaf)
    return { by: 'headers', test: (header, index) => test(`0x${blockAt(header, index).toString(16)}`) }
  }
  // `raw` is the number's minimal hex.
  const numbers = leaf.values.flatMap(value => {
    const number = Number(value)
    return Number.isSafeInteger(number) && `0x${number.toString(16)}` === value ? [number] : []
  })
  return { by: 'blocks', runs: numbers.sort((a, b) => a - b).map(number => [number, number]) }
}

export const time: Planner = leaf => {
  const test = testOf(leaf)
  return { by: 'headers', test: ({ times }, index) => test(times[index]! * 1000) }
}

const runsOf = (leaf: Leaf): [number, number][] => {
  if (leaf.op === 'exists') return [[0, Number.MAX_SAFE_INTEGER]]
  if (leaf.op === 'in')
    return leaf.values
      .map(Number)
      .sort((a, b) => a - b)
      .map(number => [number, number])
  const { gt, gte, lt, lte } = leaf.op === 'range' ? leaf.bounds : {}
  const from = Math.max(0, gte === undefined ? 0 : Number(gte), gt === undefined ? 0 : Number(gt) + 1)
  const to = Math.min(
    Number.MAX_SAFE_INTEGER,
    lte === undefined ? Number.MAX_SAFE_INTEGER : Number(lte),
    lt === undefined ? Number.MAX_SAFE_INTEGER : Number(lt) - 1,
  )
  return from <= to ? [[from, to]] : []
}
