import type { RawBlock } from '../../src/chain/wire.ts'
import { makeChain } from '../../test/support/pack.ts'
import type { Random } from '../lib/random.ts'

/** A chain that is reorganised at random, and knows of every block that it ever had what it stands on. */
export type Branches = ReturnType<typeof createBranches>

export type Entity = 'block' | 'tx' | 'log'

export interface Told {
  id: string
  number: number
  hash: string
  parentHash?: string | undefined
}

const DEEPEST = 40
const TXS = 2
const LOGS = 2
const EACH: Record<Entity, number> = { block: 1, tx: TXS, log: TXS * LOGS }

export const createBranches = (blocks: number) => {
  let chain = makeChain({ blocks, txs: TXS, logs: LOGS })
  let made = 0
  const parents = new Map<string, string>()
  const note = (some: readonly RawBlock[]) => {
    for (const { block } of some) parents.set(block.hash, block.parentHash)
  }
  note(chain)

  return {
    chain: (): readonly RawBlock[] => chain,
    /** Replaces some of the newest blocks by one more; lost transactions come again, some in another block. */
    reorganise(random: Random): RawBlock[] {
      const depth = 1 + random.below(DEEPEST)
      const kept = chain.slice(0, -depth)
      const lost = chain.slice(-depth)
      const salt = `branch ${++made}`
      const fresh = makeChain({ blocks: depth + 1, txs: TXS, logs: LOGS, parent: kept.at(-1)!, salt })
      const shift = random.below(3)
      const branch = fresh.map((raw, i) => minedAgain(raw, lost[i - shift]))
      note(branch)
      chain = [...kept, ...branch]
      return branch
    },
    /** What shows that documents are not of one state of the chain, if anything. */
    fault(entity: Entity, documents: readonly Told[], { isCursor = false } = {}): string | undefined {
      const ids = new Set<string>()
      const hashes = new Map<number, string>()
      for (const { id, number, hash, parentHash } of documents) {
        if (ids.has(id)) return `${entity} ${id} is there twice`
        ids.add(id)
        if (hashes.has(number) && hashes.get(number) !== hash) return `block ${number} is of two branches`
        hashes.set(number, hash)
        if (!parents.has(hash)) return `block ${number} has a hash that the chain never had`
        if (parentHash !== undefined && parentHash !== parents.get(hash)) return `block ${number} has another parent`
      }
      const top = Math.max(-1, ...hashes.keys())
      let expected = hashes.get(top)
      // A cursor leaves out what was reorganised away since it began.
      const whole = isCursor ? top - 2 * DEEPEST : top
      for (let number = top; number >= 0; number--) {
        const found = hashes.get(number)
        if (found !== expected && (found !== undefined || number <= whole))
          return found === undefined
            ? `block ${number} is missing below ${top}`
            : `block ${number} is not of the branch of block ${top}`
        expected = parents.get(expected!)
      }
      if (!isCursor && documents.length !== (top + 1) * EACH[entity])
        return `${documents.length} documents of kind ${entity} in ${top + 1} blocks`
      return undefined
    },
  }
}

/** The block with transactions that another one had: the same hashes stand in another place. */
const minedAgain = (raw: RawBlock, lost: RawBlock | undefined): RawBlock => {
  if (lost === undefined) return raw
  const text = raw.block.transactions.reduce(
    (text, { hash }, i) => text.replaceAll(hash, lost.block.transactions[i]!.hash),
    JSON.stringify(raw),
  )
  return JSON.parse(text) as RawBlock
}
