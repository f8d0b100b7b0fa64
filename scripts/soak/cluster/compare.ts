import { KINDS } from '../../../src/mapping/index.ts'
import type { Soaked } from '../server.ts'

const STEP = 50

/** What of a kind lies in blocks; tokens are compared all at once, since their fields do not tell a block. */
const queryOf = (kind: string, from: number, to: number): object => ({
  range: { [kind === 'block' ? 'number.num' : 'blockNumber.num']: { gte: from, lte: to } },
})

/** Documents of two servers, byte for byte and in their order. */
export const compareServers = async (
  one: Soaked,
  other: Soaked,
  network: string,
  from: number,
  to: number,
): Promise<{ findings: string[]; documents: number }> => {
  const findings: string[] = []
  let documents = 0
  const compare = async (kind: string, query: object, what: string) => {
    const body = { query, size: -1 }
    const [found, due] = await Promise.all(
      [one, other].map(async server => {
        const answer = await server.ask(`/${network}/es/${kind}/search`, body)
        const text = await answer.text()
        if (answer.status !== 200) throw new Error(`${what}: answered with ${answer.status}: ${text.slice(0, 300)}`)
        return (JSON.parse(text) as { hits: { hits: { _id: string }[] } }).hits.hits.map(
          hit => [hit._id, JSON.stringify(hit)] as const,
        )
      }),
    )
    documents += due!.length
    const [foundIds, dueIds] = [new Map(found), new Map(due)]
    const missing = due!.filter(([id]) => !foundIds.has(id))
    const more = found!.filter(([id]) => !dueIds.has(id))
    const different = found!.filter(([id, text]) => dueIds.has(id) && dueIds.get(id) !== text)
    if (missing.length > 0)
      findings.push(`${what}: ${missing.length} of ${due!.length} are missing, such as ${missing[0]}`)
    if (more.length > 0) findings.push(`${what}: ${more.length} are too many, such as ${more[0]}`)
    if (foundIds.size < found!.length) findings.push(`${what}: ${found!.length - foundIds.size} are there twice`)
    if (different.length > 0)
      findings.push(
        `${what}: ${different.length} differ: ${different[0]![1]} should be ${dueIds.get(different[0]![0])}`,
      )
  }
  for (const kind of KINDS) {
    if (kind === 'token') await compare(kind, { match_all: {} }, 'tokens')
    else
      for (let first = from; first <= to; first += STEP) {
        const last = Math.min(to, first + STEP - 1)
        await compare(kind, queryOf(kind, first, last), `${kind} of the blocks ${first} to ${last}`)
      }
  }
  return { findings, documents }
}
