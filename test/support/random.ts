/** Numbers from 0 to 1, the same in each run. */
export const randomFrom = (seed: number) => () => {
  seed = (seed * 48_271) % 2_147_483_647
  return seed / 2_147_483_647
}
