import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import Database from 'better-sqlite3'
import fc from 'fast-check'
import { createRandom } from '../../scripts/lib/random.ts'
import type { SegmentBatch } from '../../src/engine/documents/batch.ts'
import { createPairsBuilder } from '../../src/engine/index/postings.ts'
import { createPostingsReader } from '../../src/engine/index/postings-reader.ts'
import { createPostingStructure } from '../../src/engine/index/postings-structure.ts'
import type { Revision } from '../../src/engine/index/redecode-patch.ts'
import { FULL_LEVEL } from '../../src/engine/index/segments.ts'
import type { Ordinals, SegmentPart } from '../../src/engine/index/structure.ts'
import { fieldId, HASHED, logField, termOf, UNDECODED } from '../../src/engine/index/terms.ts'
import { SCHEMA } from '../../src/engine/schema.ts'
import { COUNTED_KINDS, type CountedKind } from '../../src/mapping/index.ts'

/** Fields of each kind; signature 1 is one of logs, 2 of calls. */
const FIELDS_OF: Record<CountedKind, number[]> = {
  block: [fieldId('block', 'hash'), fieldId('block', 'miner')],
  tx: [fieldId('tx', 'from'), fieldId('tx', 'hash'), fieldId('tx', 'method')],
  log: [UNDECODED, logField(1)],
  trace: [fieldId('trace', 'error'), fieldId('trace', 'action.to')],
  call: [fieldId('call', 'from'), fieldId('call', 'selector'), logField(2)],
}

interface Key {
  term: number
  fingerprint: number
}

/** Of each document of a segment the terms that it has. */
type Documents = Record<CountedKind, Key[][]>
interface ModelSegment {
  id: number
  revised: number
  documents: Documents
}

const openIndex = () => {
  const db = new Database(':memory:')
  for (const statement of SCHEMA) db.exec(statement)
  const insert = db.prepare('INSERT INTO signature (id, key, indexed, probability) VALUES (?, ?, 0, 1)')
  insert.run(1, 'event')
  insert.run(2, 'call/function')
  return db
}

const sizesOf = (documents: Documents): Ordinals =>
  Object.fromEntries(COUNTED_KINDS.map(kind => [kind, documents[kind].length])) as Ordinals

/** The whole index of a segment, made in the simplest way. */
const contentsOf = (documents: Documents) => {
  const found = new Map<string, { term: number; fingerprint: number; ordinals: Set<number> }>()
  for (const kind of COUNTED_KINDS)
    for (const [ordinal, keys] of documents[kind].entries())
      for (const { term, fingerprint } of keys) {
        const key = `${term}/${fingerprint}`
        if (!found.has(key)) found.set(key, { term, fingerprint, ordinals: new Set() })
        found.get(key)!.ordinals.add(ordinal)
      }
  return [...found.values()]
    .sort((a, b) => a.term - b.term || a.fingerprint - b.fingerprint)
    .map(({ ordinals, ...key }) => ({ ...key, ordinals: [...ordinals] }))
}

const batchOf = (documents: Documents): SegmentBatch => {
  const pairs = createPairsBuilder(4)
  for (const kind of COUNTED_KINDS)
    for (const [ordinal, keys] of documents[kind].entries())
      for (const { term, fingerprint } of keys) pairs.add(term, fingerprint, ordinal)
  const { block, tx, log, trace, call } = sizesOf(documents)
  const counts = { first: 0, last: block - 1, tx, log, trace, call }
  return { ...counts, pairs: pairs.finish() } as unknown as SegmentBatch
}

/** Tells only the first difference: the lists may be long. */
const assertSameList = (found: readonly unknown[], due: readonly unknown[]) => {
  const at = due.findIndex((item, i) => JSON.stringify(item) !== JSON.stringify(found[i]))
  if (at >= 0) assert.deepEqual(found[at], due[at], `item ${at}`)
  assert.equal(found.length, due.length)
}

const createModel = (seed: number) => {
  const random = createRandom()
  random.seek(seed, 0, 0, 0)
  const db = openIndex()
  let structure = createPostingStructure(db)
  // What a reader has no room for is read again.
  const kept = seed % 2 ? { roots: 900, blocks: 3000, filters: 7000, ordinals: 1_000 } : undefined
  let reader = createPostingsReader(db, kept)
  let nextId = 1
  const segments: ModelSegment[] = []

  const keyOf = (kind: CountedKind, variety: number): Key => {
    const fields = FIELDS_OF[kind]
    const field = fields[random.below(fields.length)]!
    const value = random.below(4) === 0 ? 0 : random.below(variety)
    if (random.below(2) === 0) return { term: termOf(value, field), fingerprint: 0 }
    // Few enough that some agree in all but the fingerprint.
    return { term: termOf(HASHED + ((value * 9973) % 2 ** 30), field), fingerprint: random.below(3) * 0x7fffffff }
  }
  const documentsOf = (size: number, variety: number): Documents =>
    Object.fromEntries(
      COUNTED_KINDS.map(kind => [
        kind,
        Array.from({ length: kind === 'block' ? Math.ceil(size / 50) : random.below(size + 1) }, () =>
          Array.from({ length: random.below(6) }, () => keyOf(kind, variety)),
        ),
      ]),
    ) as Documents

  const partsOf = (run: readonly ModelSegment[]): SegmentPart[] => {
    const offset: Ordinals = { block: 0, tx: 0, log: 0, trace: 0, call: 0 }
    return run.map(({ id, documents }) => {
      const { block, tx, log, trace, call } = sizesOf(documents)
      const counts = {
        first: offset.block,
        last: offset.block + block - 1,
        scoped: 0,
        ...{ block, tx, log, trace, call },
      }
      const part = { ...counts, id, events: 0, level: FULL_LEVEL, offset: { ...offset } }
      for (const kind of COUNTED_KINDS) offset[kind] += documents[kind].length
      return part
    })
  }
  const remove = (id: number, steps = Number.POSITIVE_INFINITY) => {
    for (let i = 0; i < steps && structure.remove(id); i++);
  }
  const restart = () => {
    structure = createPostingStructure(db)
    reader = createPostingsReader(db, kept)
  }

  return {
    add(size: number, variety: number) {
      const documents = documentsOf(size, variety)
      const id = nextId++
      structure.build(batchOf(documents))(id)
      segments.push({ id, revised: 0, documents })
    },
    /** Merges some; at a step there may be a restart, after which what there is by then is removed and all begins anew. */
    merge(at: number, count: number, restartAt: number) {
      const run = segments.slice(at % (segments.length + 1)).slice(0, count)
      if (run.length < 2) return
      for (let attempt = 0; ; attempt++) {
        const id = nextId++
        let step = 0
        const steps = structure.merge(id, partsOf(run))
        while (!steps.next().done) if (attempt === 0 && ++step === restartAt) break
        if (attempt === 0 && step === restartAt) {
          restart()
          remove(id, 1)
          restart()
          remove(id)
          continue
        }
        const documents = Object.fromEntries(
          COUNTED_KINDS.map(kind => [kind, run.flatMap(({ documents }) => documents[kind])]),
        ) as Documents
        segments.splice(segments.indexOf(run[0]!), run.length, { id, revised: 0, documents })
        for (const part of run) remove(part.id)
        return
      }
    },
    truncate(share: number) {
      const last = segments.at(-1)
      if (!last) return
      const documents = Object.fromEntries(
        COUNTED_KINDS.map(kind => [
          kind,
          last.documents[kind].slice(0, Math.floor(last.documents[kind].length * share)),
        ]),
      ) as Documents
      const id = nextId++
      structure.truncate(last.id, id, sizesOf(documents))
      segments[segments.length - 1] = { id, revised: 0, documents }
      remove(last.id)
    },
    patch(at: number, share: number, variety: number) {
      const segment = segments[at % Math.max(1, segments.length)]
      if (!segment) return
      const [removed, put] = [createPairsBuilder(4), createPairsBuilder(4)]
      const add = (pairs: typeof put, { term, fingerprint }: Key, ordinal: number) =>
        pairs.add(term, fingerprint, ordinal)
      for (const kind of COUNTED_KINDS)
        for (const [ordinal, keys] of segment.documents[kind].entries()) {
          if (random.below(1000) >= share * 1000) continue
          const now = Array.from({ length: random.below(5) }, () => keyOf(kind, variety))
          // Some stay as they are.
          if (random.below(3) === 0) now.push(...keys.slice(0, 2))
          for (const key of keys) add(removed, key, ordinal)
          for (const key of now) add(put, key, ordinal)
          segment.documents[kind][ordinal] = now
        }
      const indexed = (pairs: typeof put) => ({ pairs: pairs.finish() })
      structure.patch({ segment: segment.id, removed: indexed(removed), put: indexed(put) } as unknown as Revision)()
      segment.revised++
    },
    restart,
    /** Each row in turn does not match its checksum. */
    checkDamage() {
      const rows = db.prepare('SELECT id, bytes FROM post').all() as { id: number; bytes: Buffer }[]
      const set = db.prepare('UPDATE post SET bytes = ? WHERE id = ?')
      for (const { id, bytes } of rows) {
        const wrong = Buffer.from(bytes)
        const at = random.below(wrong.length)
        wrong[at]! ^= 1 << random.below(8)
        set.run(wrong, id)
        restart()
        reader.keep(segments)
        const read = () => {
          for (const { id } of segments)
            for (const posting of reader.within(id, 0, Number.MAX_SAFE_INTEGER)) reader.ordinals(posting)
          reader.between(termOf(1, fieldId('tx', 'from')), termOf(1, fieldId('tx', 'from')))
        }
        assert.throws(read, { code: 'store_damaged' }, `row ${id}, byte ${at}`)
        set.run(bytes, id)
      }
    },
    check() {
      reader.keep(segments)
      const contents = segments.map(({ id, documents }) => ({ id, terms: contentsOf(documents) }))
      for (const { id, terms } of contents) {
        const found = reader.within(id, 0, Number.MAX_SAFE_INTEGER)
        assertSameList(
          found.map(posting => ({
            term: posting.term,
            fingerprint: posting.fingerprint,
            ordinals: [...reader.ordinals(posting)],
          })),
          terms,
        )
        assert.ok(found.every(({ n }, i) => n === terms[i]!.ordinals.length))
      }
      const all = contents.flatMap(({ id, terms }) => terms.map(term => ({ segment: id, ...term })))
      const shown = (list: ReturnType<typeof reader.between>) =>
        list.map(posting => ({
          ...{ segment: posting.segment, term: posting.term, fingerprint: posting.fingerprint },
          ordinals: [...reader.ordinals(posting)],
        }))
      for (let i = 0; i < 12; i++) {
        const { term, fingerprint } = all.length > 0 && i % 3 > 0 ? all[random.below(all.length)]! : keyOf('tx', 1000)
        const one = all.filter(other => other.term === term && other.fingerprint === fingerprint)
        assertSameList(shown(reader.between(term, term, fingerprint)), one)
        const [first, last] = [term - random.below(40), term + random.below(40)]
        const range = all.filter(other => other.term >= first && other.term <= last)
        assertSameList(shown(reader.between(first, last)), range)
        assertSameList(
          shown(reader.between(first, last, fingerprint)),
          range.filter(other => other.fingerprint === fingerprint),
        )
      }
      const left = new Set(segments.map(({ id }) => id))
      const stored = db.prepare('SELECT DISTINCT id >> 20 FROM post').pluck().all() as number[]
      assert.deepEqual(new Set(stored), left, 'nothing is left of segments that are gone')
      for (const { id, terms } of contents)
        assert.equal(
          structure.count(id, termOf(0, UNDECODED)),
          terms.find(({ term }) => term === termOf(0, UNDECODED))?.ordinals.length ?? 0,
        )
    },
    close: () => db.close(),
  }
}

const variety = fc.constantFrom(3, 40, 5000)
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ does: fc.constant('add'), size: fc.constantFrom(0, 3, 60, 900), variety }) },
  {
    weight: 3,
    arbitrary: fc.record({
      does: fc.constant('merge'),
      ...{ at: fc.nat(5), count: fc.integer({ min: 2, max: 4 }), restartAt: fc.nat(2) },
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ does: fc.constant('truncate'), share: fc.constantFrom(0, 0.1, 0.5, 0.99, 1) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      does: fc.constant('patch'),
      at: fc.nat(5),
      share: fc.constantFrom(0.001, 0.02, 0.6),
      variety,
    }),
  },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('restart') }) },
)

describe('postings', () => {
  it('are those of a simple model, whatever is merged, truncated, patched, given up and begun anew', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 12 }), fc.nat(), (steps, seed) => {
        const model = createModel(seed)
        try {
          for (const one of steps) {
            if (one.does === 'add') model.add(one.size, one.variety)
            else if (one.does === 'merge') model.merge(one.at, one.count, one.restartAt)
            else if (one.does === 'truncate') model.truncate(one.share)
            else if (one.does === 'patch') model.patch(one.at, one.share, one.variety)
            else model.restart()
            model.check()
          }
        } finally {
          model.close()
        }
      }),
      { numRuns: 30, endOnFailure: true },
    )
  })

  it('are found by way of filters in segments that have them', () => {
    const model = createModel(6)
    for (let i = 0; i < 4; i++) model.add(3_500, 100_000)
    model.check()
    model.patch(3, 0.4, 900_000)
    model.check()
    model.merge(0, 4, 1)
    model.check()
    model.truncate(0.7)
    model.check()
    model.close()
  })

  it('are refused where a row is damaged', () => {
    const model = createModel(8)
    model.add(3_500, 100_000)
    model.checkDamage()
    model.close()
  })
})
