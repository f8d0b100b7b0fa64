import type { RawBlock } from '../chain/wire.ts'
import { keccakHex } from '../lib/keccak.ts'
import { type BlockPlaces, findBlockPlaces } from './logs.ts'

/** A log by which a contract announces that it runs other code from now on. */
export interface CodeUpgrade {
  address: string
  place: number
  /** Null if the log does not name it. */
  implementation: string | null
}

const UPGRADED = keccakHex('Upgraded(address)')

/** Includes events that do not name the new code: of diamonds, beacon proxies and Safes. */
const UPGRADE_TOPICS: ReadonlySet<string> = new Set(
  [
    'Upgraded(address)',
    'DiamondCut((address,uint8,bytes4[])[],address,bytes)',
    'BeaconUpgraded(address)',
    'ChangedMasterCopy(address)',
  ].map(keccakHex),
)

export const upgradesIn = (raw: RawBlock): readonly CodeUpgrade[] => {
  let upgrades = upgradesByBlock.get(raw)
  if (!upgrades) {
    upgrades = findUpgrades(raw)
    upgradesByBlock.set(raw, upgrades)
  }
  return upgrades
}

/** Cache, as the pipeline reads each block several times. */
const upgradesByBlock = new WeakMap<RawBlock, readonly CodeUpgrade[]>()

const findUpgrades = (raw: RawBlock): CodeUpgrade[] => {
  const upgrades: CodeUpgrade[] = []
  let places: BlockPlaces | undefined | null = null
  let index = -1
  for (const { logs } of raw.receipts)
    for (const { address, topics } of logs) {
      index++
      const [topic] = topics
      if (topic === undefined || !UPGRADE_TOPICS.has(topic.toLowerCase())) continue
      const named = topic.toLowerCase() === UPGRADED
      if (named && topics.length !== 2) continue
      const implementation = named ? `0x${topics[1]!.slice(-40).toLowerCase()}` : null
      if (places === null) places = findBlockPlaces(raw)
      upgrades.push({ address: address.toLowerCase(), place: places?.logs[index] ?? index, implementation })
    }
  return upgrades
}
