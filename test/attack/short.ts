import type { Attack } from '../../scripts/attack/attack.ts'
import { attack, type Options, showFindings } from '../../scripts/attack/run.ts'
import { TESTED_PROGRAM } from '../support/tested-program.ts'

/** What a few tries of an attack found, as text; empty where it held. How long anything took is left out: tests run on busy machines. */
export const findingsOf = async (
  one: Attack,
  options: Pick<Options, 'count' | 'attempt'> & { seed?: number; seconds?: number },
): Promise<string> => {
  const { findings, tries } = await attack(one, { seed: 1, seconds: 60, program: TESTED_PROGRAM, ...options })
  if (tries === 0 && findings.length === 0) throw new Error('nothing was tried')
  return showFindings(
    one.name,
    findings.filter(({ isTime }) => !isTime),
  )
}
