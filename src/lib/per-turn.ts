/**
 * What `read` tells, read once for all who ask until the process looks again at what happened outside of it. Of what came before the first of
 * them asked, nothing is missed.
 */
export const perTurn = <T>(read: () => T): (() => T) => {
  let known: { value: T } | undefined
  const forget = () => {
    known = undefined
  }
  return () => {
    if (!known) {
      known = { value: read() }
      process.nextTick(forget)
    }
    return known.value
  }
}
