import { setImmediate } from 'node:timers/promises'
import type { LiveChain } from './chain.ts'
import type { Soaked } from './server.ts'

const STEP = 50
const KINDS = ['block', 'tx', 'log'] as const

type Ids = Record<(typeof KINDS)[number], string[]>

/** What the server holds of these blocks beside what the node has: documents by their ids, in chain order. */
export const compareDocuments = async (
  server: Soaked,
  network: string,
  chain: LiveChain,
  from: number,
  to: number,
): Promise<{ findings: string[]; documents: number }> => {
  const findings: string[] = []
  let documents = 0
  for (let first = from; first <= to; first += STEP) {
    const last = Math.min(to, first + STEP - 1)
    const due = await idsOf(chain, first, last)
    for (const kind of KINDS) {
      const field = kind === 'block' ? 'number.num' : 'blockNumber.num'
      const query = { range: { [field]: { gte: first, lte: last } } }
      const answer = await server.ask(`/${network}/es/${kind}/search`, {
        query,
        size: -1,
        sort: '_doc',
        _source: false,
      })
      const { hits } = (await answer.json()) as { hits: { hits: { _id: string }[] } }
      const held = hits.hits.map(({ _id }) => _id)
      documents += held.length
      const what = differenceOf(due[kind], held)
      if (what !== undefined) findings.push(`${kind} of the blocks ${first} to ${last}: ${what}`)
    }
  }
  return { findings, documents }
}

const idsOf = async (chain: LiveChain, from: number, to: number): Promise<Ids> => {
  const ids: Ids = { block: [], tx: [], log: [] }
  for (let number = from; number <= to; number++) {
    const { block, receipts } = chain.block(number)!
    ids.block.push(block.hash)
    for (const { hash } of block.transactions) ids.tx.push(hash)
    for (const { logs } of receipts)
      for (const { transactionHash, logIndex } of logs) ids.log.push(`${transactionHash}_l_${Number(logIndex)}`)
    // The node answers from this process.
    await setImmediate()
  }
  return ids
}

export const differenceOf = (due: readonly string[], held: readonly string[]): string | undefined => {
  const [dueSet, heldSet] = [new Set(due), new Set(held)]
  const missing = due.filter(it => !heldSet.has(it))
  const others = held.filter(it => !dueSet.has(it))
  if (missing.length > 0) return `${missing.length} of ${due.length} are missing, such as ${missing[0]}`
  if (others.length > 0) return `${others.length} are not the node’s, such as ${others[0]}`
  if (held.length !== due.length) return `${held.length - due.length} are there twice`
  return undefined
}
