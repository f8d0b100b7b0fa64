import type { RuleFault } from '../wire.ts'

/** Faults of a rule by their place. */
export type FaultAt = (path: string, options?: { inside?: boolean }) => string | undefined

/** `inside` also finds faults of what the place holds, such as one element of a list. */
export const faultAt =
  (faults: readonly RuleFault[]): FaultAt =>
  (path, { inside = false } = {}) =>
    faults.find(
      it => it.path === path || (inside && (it.path.startsWith(`${path}[`) || it.path.startsWith(`${path}.`))),
    )?.message
