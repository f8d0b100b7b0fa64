import { keccakHex } from '../lib/keccak.ts'
import { IMPLEMENTATION, PROXIABLE, type ProxyKind, selectorOfText } from './code.ts'

export interface Delegation {
  /**
   * `fixed`: runs its target's code, and no log reports changes; `upgradeable`: an `Upgraded` log
   * may replace the target; `beacon`: runs the code that its target offers; `offer`: is such a
   * beacon and runs only its own code; `diamond`: runs the code of each target for some selectors.
   */
  kind: 'fixed' | 'upgradeable' | 'beacon' | 'offer' | 'diamond'
  targets: Target[]
}

export interface Target {
  /** Lower-case. */
  address: string
  /** Selectors that a diamond forwards to it, in lower case. */
  selectors?: string[]
}

const slotText = (value: bigint): string => `0x${value.toString(16).padStart(64, '0')}`

/** Beacons answer this, too. */
export const IMPLEMENTATION_CALL = selectorOfText('implementation()')

interface ProxyQuestion {
  kind: Delegation['kind']
  slot?: string
  call?: string
}

/** How to read the implementation of a proxy whose code does not contain it. */
export const PROXY_QUESTIONS: Readonly<Record<ProxyKind, ProxyQuestion>> = {
  'EIP-1167': { kind: 'fixed' },
  'EIP-7702': { kind: 'fixed' },
  'EIP-1967': { kind: 'upgradeable', slot: slotText(IMPLEMENTATION) },
  'EIP-1967 beacon': { kind: 'beacon', slot: slotText(BigInt(keccakHex('eip1967.proxy.beacon')) - 1n) },
  'EIP-1822': { kind: 'upgradeable', slot: slotText(PROXIABLE) },
  // Proxies older than EIP-1967 answer only their administrator.
  'EIP-897': {
    kind: 'upgradeable',
    call: IMPLEMENTATION_CALL,
    slot: keccakHex('org.zeppelinos.proxy.implementation'),
  },
  'Safe proxy': { kind: 'fixed', slot: slotText(0n) },
  Diamond: { kind: 'diamond', call: selectorOfText('facets()') },
}

/** `word` and `answer`: the slot and the call result; undefined if not read, null if reverted. */
export const readDelegation = (
  proxy: ProxyKind,
  word: string | undefined,
  answer: string | null | undefined,
): Delegation | null => {
  const { kind } = PROXY_QUESTIONS[proxy]
  if (kind === 'diamond') {
    const targets = readFacets(answer ?? null)
    return targets.length === 0 ? null : { kind, targets }
  }
  const address = readAddressWord(answer ?? null) ?? readAddressWord(word ?? null)
  // A log may report the target of a proxy that is not set up yet.
  return { kind, targets: address === null ? [] : [{ address }] }
}

/** Address in a storage word or a return value, or null. */
export const readAddressWord = (word: string | null): string | null => {
  // Some nodes leave out zeros in front.
  const digits = /^0{24}([0-9a-f]{40})$/.exec(word?.slice(2).padStart(64, '0') ?? '')?.[1]
  return digits && !/^0+$/.test(digits) ? `0x${digits}` : null
}

/** Far more than the largest diamonds have. */
const MAX_FACETS = 200
const MAX_SELECTORS = 5_000

/** Decodes the result of `facets()`: `(address, bytes4[])[]`; empty for anything else. */
export const readFacets = (answer: string | null): Required<Target>[] => {
  const bytes = Buffer.from(answer?.slice(2) ?? '', 'hex')
  const numberAt = (at: number): number =>
    at + 32 <= bytes.length && bytes.subarray(at, at + 28).every(byte => byte === 0)
      ? bytes.readUInt32BE(at + 28)
      : Number.NaN
  const facets: Required<Target>[] = []
  const list = numberAt(0) + 32
  const count = numberAt(list - 32)
  let left = MAX_SELECTORS
  if (!(count <= MAX_FACETS)) return []
  for (let i = 0; i < count; i++) {
    const facet = list + numberAt(list + i * 32)
    const selectors = facet + numberAt(facet + 32) + 32
    const size = numberAt(selectors - 32)
    left -= size
    if (!(left >= 0 && selectors + size * 32 <= bytes.length)) return []
    facets.push({
      address: `0x${bytes.toString('hex', facet + 12, facet + 32)}`,
      selectors: Array.from(
        { length: size },
        (_, j) => `0x${bytes.toString('hex', selectors + j * 32, selectors + j * 32 + 4)}`,
      ),
    })
  }
  return facets
}
