import { jumpTargets, metadataStart, reachable } from './bytecode.ts'
import { explore, type Value } from './machine.ts'

/** Code as a contract's program: what of it runs, and where calls go. */
export interface Program {
  code: Uint8Array
  targets: Uint8Array
  /** Offsets of the instructions that may run, ascending. */
  instructions: number[]
  /** The functions that it has, as numbers of 32 bits. */
  selectors: Set<number>
  /** Where it forwards whole calls. */
  delegates: Value[]
}

/** Steps to look for functions, far more than the largest contracts need: some thousand. */
const DISPATCH_STEPS = 20_000

export const readProgram = (hex: string): Program => {
  const code = new Uint8Array(Buffer.from(hex.slice(2), 'hex'))
  const targets = jumpTargets(code, metadataStart(code))
  const selectors = new Set<number>()
  const delegates: Value[] = []
  let hashes = false
  explore(code, targets, 0, DISPATCH_STEPS, {
    selectors: list => {
      for (const selector of list) selectors.add(selector)
    },
    delegates: to => delegates.push(to),
    hashes: () => {
      hashes = true
    },
  })
  // If jump destinations are in tables, no instruction pushes them.
  const entries = [0]
  if (hashes) for (const [at, isTarget] of targets.entries()) if (isTarget === 1) entries.push(at)
  return { code, targets, instructions: reachable(code, targets, entries), selectors, delegates }
}
