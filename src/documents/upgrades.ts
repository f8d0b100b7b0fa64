import type { RawBlock } from '../chain/wire.ts'
import { keccakHex } from '../lib/keccak.ts'
import { type Places, placesOf } from './logs.ts'

/** A log by which a contract tells that it runs other code from then on. */
export interface Upgrade {
  /** Lower-case, as all addresses here. */
  address: string
  /** Of the log in its block. */
  place: number
  /** Whose code that is; null where the log does not tell. */
  implementation: string | null
}

const UPGRADED = keccakHex('Upgraded(address)')

/** With those after which only the contract itself can tell: of diamonds, of proxies whose beacon changes, and of Safes. */
const TELLING: ReadonlySet<string> = new Set(
  [
    'Upgraded(address)',
    'DiamondCut((address,uint8,bytes4[])[],address,bytes)',
    'BeaconUpgraded(address)',
    'ChangedMasterCopy(address)',
  ].map(keccakHex),
)

/** In the order of their places. */
export const upgradesIn = (raw: RawBlock): readonly Upgrade[] => {
  let upgrades = known.get(raw)
  if (!upgrades) {
    upgrades = findUpgrades(raw)
    known.set(raw, upgrades)
  }
  return upgrades
}

/** Of blocks on their way, which are asked more than once. */
const known = new WeakMap<RawBlock, readonly Upgrade[]>()

const findUpgrades = (raw: RawBlock): Upgrade[] => {
  const upgrades: Upgrade[] = []
  let places: Places | undefined | null = null
  let index = -1
  for (const { logs } of raw.receipts)
    for (const { address, topics } of logs) {
      index++
      const [topic] = topics
      // Almost no log goes on from here.
      if (topic === undefined || !TELLING.has(topic.toLowerCase())) continue
      const named = topic.toLowerCase() === UPGRADED
      if (named && topics.length !== 2) continue
      const implementation = named ? `0x${topics[1]!.slice(-40).toLowerCase()}` : null
      if (places === null) places = placesOf(raw)
      upgrades.push({ address: address.toLowerCase(), place: places?.logs[index] ?? index, implementation })
    }
  return upgrades
}
