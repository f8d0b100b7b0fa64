import type { Reader } from '../reader.ts'
import { PLACES, positionOf } from '../schema.ts'

/** Places of the logs that told of upgrades in a block, ascending; also of one whose documents lie elsewhere. */
export const createUpgrades = (reader: Pick<Reader, 'prepare'>): ((block: number) => number[]) => {
  const upgrades = reader.prepare('SELECT pos FROM upgrade WHERE pos BETWEEN ? AND ? ORDER BY pos').pluck()
  return block => upgrades.all(positionOf(block, 0), positionOf(block, PLACES - 1)) as number[]
}
