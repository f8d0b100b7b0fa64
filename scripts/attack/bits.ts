import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openForWriting } from '../../src/engine/open.ts'
import { createSearcher } from '../../src/engine/query/searcher.ts'
import { openReader, type StoreReader } from '../../src/engine/reader.ts'
import { ChainsieveError } from '../../src/lib/errors.ts'
import { KINDS } from '../../src/mapping/index.ts'
import { answerSearch } from '../../src/search/answer.ts'
import { damagedStore } from '../../src/sqlite/damage.ts'
import { checkPages } from '../../src/sqlite/verify-pages.ts'
import { createTestStore, demoBlocks } from '../../test/support/store.ts'
import type { Random } from '../lib/random.ts'
import { type Attack, tryEach } from './attack.ts'

/** Files of a store as a process left them, and what may be answered of them: what was committed by then, or before. */
interface Image {
  name: string
  files: Map<Suffix, Buffer>
  honest: Set<string>
}

const SUFFIXES = ['', '-wal', '-sums'] as const
type Suffix = (typeof SUFFIXES)[number]

const TRIES = 2_000

/**
 * Damages the files of stores, a bit, a byte, a sector or a page at a time, then opens them as a server does and asks everything: what
 * comes must be an honest answer, or an error that says that the store is damaged.
 */
export const bits: Attack = {
  name: 'bits',
  is: 'flipped bits and lost pages in the files of a store: told, or without a difference',
  async run(context) {
    const path = join(context.folder, 'network.sqlite')
    const images = makeImages()
    const counts = { refused: 0, harmless: 0 }
    const made = await tryEach(context, TRIES, ({ attempt, random, find }) => {
      const image = images[attempt % images.length]!
      for (const suffix of ['', '-wal', '-shm', '-sums']) rmSync(path + suffix, { force: true })
      for (const [suffix, content] of image.files) writeFileSync(path + suffix, content)
      const damage = inflict(path, image, random)
      const what = judge(path, image)
      if (what === 'refused' || what === 'harmless') counts[what]++
      else find('a damaged store does what it should not', `${image.name}: ${damage}: ${what}`)
    })
    const note = `${counts.refused} were told to be damaged, for ${counts.harmless} it made no difference`
    return { ...made, notes: [note] }
  },
}

const judge = (path: string, { honest }: Image): string => {
  try {
    openAsServer(path)
    return honest.has(askEverything(path)) ? 'harmless' : 'served what is wrong'
  } catch (error) {
    if (error instanceof ChainsieveError && error.code === 'store_damaged') return 'refused'
    return `failed with ${error instanceof Error ? error.stack : error}`
  }
}

const openAsServer = (path: string) => {
  openForWriting(path).close()
  const found = lastOf(checkPages(path))
  if (found && found.damaged.length > 0) throw damagedStore(path, found.damaged)
}

export const lastOf = <T>(steps: Generator<unknown, T>): T => {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

/** A store at some moments of its life, among them such as a kill leaves. */
const makeImages = (): Image[] => {
  const blocks = demoBlocks()
  const store = createTestStore([], { run: RUN })
  const images: Image[] = []
  const honest = new Set([askEverything(store.path)])
  let next = 0
  const add = (runs: number) => {
    for (const end = next + runs * RUN; next < end; next += RUN) {
      store.add(blocks.slice(next, next + RUN))
      honest.add(askEverything(store.path))
    }
  }
  const keep = (name: string) => images.push({ name, files: filesOf(store.path), honest: new Set(honest) })
  add(3)
  keep('all in the log')
  store.db.settle(1)
  keep('all copied')
  store.reader.begin()
  add(1)
  store.db.settle(1)
  keep('copied in part, for a reader')
  store.reader.end()
  add(1)
  keep('a log with more than is copied')
  store.db.settle(1)
  add(1)
  keep('a new log')
  store.reader.close()
  store.db.close()
  keep('closed')
  store.close()
  return images
}

const RUN = 20

const filesOf = (path: string) =>
  new Map(
    SUFFIXES.filter(suffix => existsSync(path + suffix) && statSync(path + suffix).size > 0).map(suffix => [
      suffix,
      readFileSync(path + suffix),
    ]),
  )

const inflict = (path: string, { files }: Image, random: Random): string => {
  const all = [...files]
  const total = all.reduce((sum, [, content]) => sum + content.length, 0)
  // Small files get their share, too.
  let at = random.below(4) === 0 ? -1 : random.below(total)
  let [suffix, content] = all[random.below(all.length)]!
  if (at >= 0)
    for (const [name, bytes] of all) {
      ;[suffix, content] = [name, bytes]
      if (at < bytes.length) break
      at -= bytes.length
    }
  else at = random.below(Math.min(content.length, 4096))
  const bytes = Buffer.from(content)
  const kind = DAMAGES[random.below(DAMAGES.length)]!
  kind.inflict(bytes, at, random)
  writeFileSync(path + suffix, bytes)
  return `${kind.name} at ${at} of network.sqlite${suffix}`
}

const page = (at: number) => at - (at % 4096)

export const DAMAGES: { name: string; inflict(bytes: Buffer, at: number, random: Random): void }[] = [
  {
    name: 'a flipped bit',
    inflict: (bytes, at, random) => {
      bytes[at]! ^= 1 << random.below(8)
    },
  },
  {
    name: 'another byte',
    inflict: (bytes, at, random) => {
      bytes[at] = random.below(256)
    },
  },
  {
    name: 'a sector of zeros',
    inflict: (bytes, at) =>
      bytes
        .subarray(at - (at % 512))
        .subarray(0, 512)
        .fill(0),
  },
  { name: 'a page of zeros', inflict: (bytes, at) => bytes.subarray(page(at)).subarray(0, 4096).fill(0) },
  {
    name: 'a page in another’s place',
    inflict: (bytes, at, random) => {
      const from = page(random.below(bytes.length))
      bytes.copy(bytes, page(at), from, from + 4096)
    },
  },
]

export const askEverything = (path: string): string => {
  const reader = openReader(path)
  try {
    return askReader(reader)
  } finally {
    reader.close()
  }
}

export const askReader = (reader: StoreReader): string => {
  const searcher = createSearcher(reader)
  const ask = (entities: string, body: object) => {
    const { body: answer } = answerSearch(searcher, 'a', entities, JSON.stringify(body), {
      deadline: performance.now() + 30_000,
    })
    const text = (
      answer instanceof Uint8Array
        ? Buffer.from(answer)
        : Buffer.concat(Array.from(answer.parts, part => Buffer.from(part)))
    ).toString()
    return text.replace(/"took":\d+/, '')
  }
  const documents = KINDS.map(kind => ask(kind, { size: -1 }))
  const first = /"from":"(0x[0-9a-fA-F]{40})"/.exec(documents[1]!)?.[1] ?? '0x'
  return [
    ...documents,
    ask('tx', { size: 100, query: { bool: { filter: [{ term: { from: first } }] } } }),
    ask('event', { size: 100, query: { bool: { filter: [{ term: { event: 'transfer' } }] } } }),
    ask('tx', { size: 100, query: { bool: { filter: [{ range: { 'value.num': { gt: 0 } } }] } }, sort: ['gas.num'] }),
  ].join('\n')
}
