/** What simple metrics follow from. Of nothing, `min` is infinite and `max` minus infinite. */
export interface Totals {
  count: number
  sum: number
  sumOfSquares: number
  min: number
  max: number
}
