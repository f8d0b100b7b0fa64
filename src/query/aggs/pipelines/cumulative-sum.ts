import { alongHistogram } from './inside.ts'
import { simpleValue } from './pipeline.ts'

export const cumulativeSum = alongHistogram('The running total, including the bucket.', [], (_, format) => () => {
  let sum = 0
  return value => {
    sum += value ?? 0
    return simpleValue(sum, format)
  }
})
