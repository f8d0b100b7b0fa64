import type { RawBlock } from '../chain/wire.ts'
import { keccakHex } from '../lib/keccak.ts'
import { placesOf } from './places.ts'

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

/** Those after which only the contract itself can tell: of diamonds, of proxies whose beacon changes, and of Safes. */
const CHANGED: ReadonlySet<string> = new Set(
  ['DiamondCut((address,uint8,bytes4[])[],address,bytes)', 'BeaconUpgraded(address)', 'ChangedMasterCopy(address)'].map(
    keccakHex,
  ),
)

/** In the order of their places. */
export const upgradesIn = (raw: RawBlock): Upgrade[] => {
  const upgrades: Upgrade[] = []
  const places = placesOf(raw)
  let index = 0
  for (const { logs } of raw.receipts)
    for (const { address, topics } of logs) {
      const topic = topics[0]?.toLowerCase() ?? ''
      const named = topic === UPGRADED && topics.length === 2
      if (named || CHANGED.has(topic)) {
        const implementation = named ? `0x${topics[1]!.slice(-40).toLowerCase()}` : null
        const place = places ? places.logs[index]! : index
        upgrades.push({ address: address.toLowerCase(), place, implementation })
      }
      index++
    }
  return upgrades
}
