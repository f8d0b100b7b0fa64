import type { Hex, RawBlock } from '../../src/chain/wire.ts'
import { createChain, type MadeChain } from '../bench/chain.ts'

/** A made-up chain that grows and is reorganised. Old blocks are made again when they are asked for: nothing is kept of them. */
export type LiveChain = ReturnType<typeof createLiveChain>

interface Branch {
  from: number
  chain: MadeChain
  /** What its first block names as its parent; undefined of the trunk. */
  parent: Hex | undefined
}

const KEPT = 64
/** Branches take turns with few of them, so that not every one brings addresses of its own. */
const CHAINS = 5

/** `most`: transactions of a block; the made-up chain has some 150. */
export const createLiveChain = (first: number, seed: number, most = Number.POSITIVE_INFINITY) => {
  const chains = Array.from({ length: CHAINS }, (_, i) => createChain({ seed: seed + i, chainId: 1, traces: false }))
  const branches: Branch[] = [{ from: 0, chain: chains[0]!, parent: undefined }]
  const made = new Map<number, RawBlock>()
  let branchesMade = 0
  let tip = first

  const make = (number: number): RawBlock => {
    const branch = branches.findLast(({ from }) => from <= number)!
    const raw = branch.chain.block(number)
    if (branch.parent !== undefined && number === branch.from) raw.block.parentHash = branch.parent
    if (raw.receipts.length > most) shorten(raw, most)
    return raw
  }
  const block = (number: number): RawBlock | undefined => {
    if (number > tip || number < 0) return undefined
    const raw = made.get(number) ?? make(number)
    made.delete(number)
    made.set(number, raw)
    if (made.size > KEPT) made.delete(made.keys().next().value!)
    return raw
  }
  return {
    tip: () => tip,
    block,
    grow(blocks: number) {
      tip += blocks
    },
    /** Replaces the newest blocks by a branch that is one block longer. */
    reorganise(depth: number) {
      const from = tip - depth + 1
      const parent = block(from - 1)!.block.hash
      while (branches.at(-1)!.from >= from) branches.pop()
      branches.push({ from, chain: chains[1 + (branchesMade++ % (CHAINS - 1))]!, parent })
      for (const number of [...made.keys()]) if (number >= from) made.delete(number)
      tip++
    },
  }
}

/** The block's bloom has to be that of its logs. */
const shorten = ({ block, receipts }: RawBlock, most: number) => {
  for (const some of [block.transactions, receipts]) some.splice(most)
  const bloom = receipts.reduce((bits, { logsBloom }) => bits | BigInt(logsBloom as Hex), 0n)
  block.logsBloom = `0x${bloom.toString(16).padStart(512, '0')}`
}
