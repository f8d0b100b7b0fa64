/** Index of the first of some ascending numbers that is not below another one. */
export const lowerBound = (list: ArrayLike<number>, number: number): number => {
  let low = 0
  let high = list.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (list[middle]! < number) low = middle + 1
    else high = middle
  }
  return low
}

/** Index of the first of some ascending numbers that is above another one. */
export const upperBound = (list: ArrayLike<number>, number: number): number => {
  let low = 0
  let high = list.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (list[middle]! <= number) low = middle + 1
    else high = middle
  }
  return low
}
