import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { findJsonFault } from '../../src/chain/files/json-fault.ts'
import { formatPackLine, type PackOptions, readPack, readPackLines } from '../../src/chain/files/pack.ts'
import type { RawBlock } from '../../src/chain/wire.ts'
import { ChainsieveError } from '../../src/lib/errors.ts'
import { DEFAULT_LIMITS } from '../../src/limits/index.ts'
import { hasMainnet, mainnetPack, makeChain, tempFolder } from '../support/pack.ts'
import { type Act, traceBlock } from '../support/traces.ts'

const chain = makeChain({ from: 10, blocks: 3, chainId: 5 })
const lines = chain.map(formatPackLine)
const text = lines.join('')
/** What the two transactions of a block do. */
const TOPS: Act[] = [
  { kind: 'call', to: `0x${'aa'.repeat(20)}` },
  { kind: 'call', to: `0x${'bb'.repeat(20)}`, error: 'Out of gas' },
]

const readAll = async (path: string, options?: PackOptions) => {
  const blocks: { line: number; block: RawBlock }[] = []
  for await (const it of readPack(path, options)) blocks.push(it)
  return blocks
}

test('a pack is read as it was written, plain and gzip, whatever its name', async t => {
  const put = await tempFolder(t)
  const expected = chain.map((block, i) => ({ line: i + 1, block }))
  const contents: Record<string, string | Uint8Array> = {
    plain: text,
    'named.gz': text,
    gzip: gzipSync(text),
    'several gzip members': Buffer.concat(lines.map(line => gzipSync(line))),
    'no line feed at the end': text.trimEnd(),
    'blank last lines': `${text}\n  \n`,
    'carriage returns': text.replaceAll('\n', '\r\n'),
    'byte order mark': `\ufeff${text}`,
  }
  for (const [name, content] of Object.entries(contents)) {
    assert.deepEqual(await readAll(await put(name, content), { chainId: 5 }), expected, name)
  }
})

test('chain ids may be hex or absent; traces may be null', async t => {
  const put = await tempFolder(t)
  const [first] = chain as [RawBlock]
  const path = await put('pack', `${JSON.stringify({ ...first, chainId: '0x5', traces: null })}\n`)
  assert.deepEqual(await readAll(path, { chainId: 5 }), [{ line: 1, block: first }])
  const { chainId: _, ...without } = first
  assert.deepEqual(await readAll(await put('none', formatPackLine(without)), { chainId: 7 }), [
    { line: 1, block: without },
  ])
})

test('traces come in one form, whichever node they were recorded from', async t => {
  const put = await tempFolder(t)
  const [raw] = structuredClone(chain) as [RawBlock]
  raw.traces = traceBlock(raw, TOPS)
  const recorded = structuredClone(raw)
  for (const trace of recorded.traces!) {
    Object.assign(trace, { blockNumber: '0xa' })
    if (trace.type === 'call' && trace.error !== undefined) trace.error = 'out of gas'
  }
  assert.deepEqual(await readAll(await put('pack', formatPackLine(recorded))), [{ line: 1, block: raw }])
  assert.deepEqual(await readAll(await put('again', formatPackLine(raw))), [{ line: 1, block: raw }])
})

test('lines longer than a chunk, and none overwritten by those after it', async t => {
  const put = await tempFolder(t)
  const long = makeChain({ blocks: 3, txs: 300, logs: 20 })
  const path = await put('long', long.map(formatPackLine).join(''))
  assert.deepEqual(
    (await readAll(path)).map(it => it.block),
    long,
  )
  for (const chunkBytes of [1, 1 << 20]) {
    const held: Uint8Array[] = []
    for await (const { bytes } of readPackLines(path, { chunkBytes })) held.push(bytes)
    assert.deepEqual(
      held.map(bytes => `${Buffer.from(bytes)}\n`),
      long.map(formatPackLine),
    )
  }
})

test('everything wrong with a pack is refused with file, line and remedy, after the good lines before it', async t => {
  const put = await tempFolder(t)
  const zipped = gzipSync(text)
  const damaged = Buffer.from(zipped)
  damaged.fill(0xff, 200, 260)
  const [one, two, three] = lines as [string, string, string]
  const branch = makeChain({ parent: chain[0]!, blocks: 1, salt: 'branch', chainId: 5 })[0]!
  const edit = (change: (raw: RawBlock) => void) => {
    const raw = structuredClone(chain[1]!)
    change(raw)
    return formatPackLine(raw)
  }
  const cases: Record<string, [content: string | Uint8Array, good: number, code: string]> = {
    [`@, line 2, column ${two.indexOf('"receipts":[') + 13}, at $.receipts[0]: this is not JSON: expected a value, found ",". Record this block again, or remove the line`]:
      [`${one}${two.replace('"receipts":[', '"receipts":[,')}${three}`, 1, 'pack_broken_line'],
    '@, line 2, column 101, at $.block.hash: this is not JSON: expected the rest of a string, the text ends. Record this block again, or remove the line':
      [`${one}${two.slice(0, 100)}\n${three}`, 1, 'pack_broken_line'],
    '@: the file ends in the middle of line 3 (column 101, at $.block.hash). Copy or record it again': [
      `${one}${two}${three.slice(0, 100)}`,
      2,
      'pack_truncated',
    ],
    '@: the file ends in the middle of line 2 (column 21, at $.block). Copy or record it again': [
      gzipSync(`${one}${two.slice(0, 20)}`),
      1,
      'pack_truncated',
    ],
    '@, line 2, column 1, at $: this is not JSON: expected a value, found "n". Record this block again, or remove the line':
      [`${one}nonsense`, 1, 'pack_broken_line'],
    '@: the gzip file is cut off before the end of its first line. Copy or record it again': [
      zipped.subarray(0, 30),
      0,
      'pack_truncated',
    ],
    '@: this is zstd. Block packs are plain NDJSON or gzip: unpack it with zstd -d': [
      Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, 0, 0]),
      0,
      'pack_format',
    ],
    '@, line 2: expected a JSON object {"chainId","block","receipts"}, found an array': [
      `${one}[1]\n`,
      1,
      'pack_not_a_block',
    ],
    '@, line 1, at $.block: expected an object, found nothing. This line is a bare block: wrap it as {"block": …, "receipts": …}':
      [JSON.stringify(chain[0]!.block), 0, 'pack_not_a_block'],
    '@, line 1, at $.block: expected an object, found nothing. This line is a whole JSON-RPC response: use only its result':
      [`{"id":1,"result":{}}`, 0, 'pack_not_a_block'],
    '@, line 1, at $.block: expected an object, found null. It is the result of eth_getBlockByNumber(n, true)': [
      `{"block":null,"receipts":[]}`,
      0,
      'pack_not_a_block',
    ],
    '@, line 1, at $.receipts: expected an array, found nothing. It is the result of eth_getBlockReceipts(n)': [
      JSON.stringify({ block: chain[0]!.block }),
      0,
      'pack_not_a_block',
    ],
    '@, line 1, at $.traces: expected an array, found an object. It is the result of trace_block(n), and may be absent':
      [JSON.stringify({ ...chain[0]!, traces: {} }), 0, 'pack_not_a_block'],
    '@, line 1, at $.chainId: expected a chain id, found a string. Ethereum has 1': [
      edit(raw => Object.assign(raw, { chainId: 'main' })),
      0,
      'pack_not_a_block',
    ],
    '@, line 2, at $.chainId: this is a block of chain 1, but the network holds chain 5. Import it into a network of its own':
      [
        `${one}${edit(raw => {
          raw.chainId = 1
        })}`,
        1,
        'pack_other_chain',
      ],
    '@, line 2: block 11 has 2 transactions but 1 receipts. Record this block again, or remove the line': [
      `${one}${edit(raw => raw.receipts.pop())}`,
      1,
      'pack_inconsistent_block',
    ],
    [`@, line 2: block 11 has no traces of transaction 1 ${chain[1]!.block.transactions[1]!.hash} and those after it. Record this block again, or remove the line`]:
      [
        `${one}${edit(raw => {
          raw.traces = traceBlock(raw, TOPS).slice(0, 1)
        })}`,
        1,
        'pack_inconsistent_block',
      ],
    [`@, line 2: block 11 ${chain[1]!.block.hash}: trace 0 is of block 11 ${branch.block.hash}, not of this one. Record this block again, or remove the line`]:
      [
        `${one}${edit(raw => {
          raw.traces = traceBlock(branch, TOPS)
        })}`,
        1,
        'pack_inconsistent_block',
      ],
    '@, line 2: block 11: traces[0] is null, not an object. Record this block again, or remove the line': [
      `${one}${edit(raw => Object.assign(raw, { traces: [null] }))}`,
      1,
      'pack_inconsistent_block',
    ],
    [`@, line 3: block 12 names ${chain[1]!.block.hash} as its parent, but the block 11 on the line before is ${branch.block.hash}. One of them was recorded from another branch: record both again`]:
      [`${one}${formatPackLine(branch)}${three}`, 2, 'pack_unlinked'],
  }
  const none = '@: it has no blocks. A block pack has one JSON object {"chainId","block","receipts"} per line'
  const empty = ['', '\n \n', gzipSync('')].map(content => [none, [content, 0, 'pack_empty']] as const)
  for (const [message, [content, good, code]] of [...empty, ...Object.entries(cases)]) {
    const path = await put('pack', content)
    const before: number[] = []
    const reading = (async () => {
      for await (const { line } of readPack(path, { chainId: 5 })) before.push(line)
    })()
    const error = await reading.then(
      () => assert.fail(`accepted: ${message}`),
      (it: unknown) => it,
    )
    assert.ok(error instanceof ChainsieveError, `${message}: ${error}`)
    assert.deepEqual(
      { next: error.next, code: error.code, message: error.message.replaceAll(path, '@'), good: before.length },
      { next: 'refuse', code, message, good },
    )
  }

  await assert.rejects(readAll(await put('damaged', damaged)), { next: 'refuse', code: 'pack_damaged' })
  await assert.rejects(readAll(await put('long', text), { limits: { ...DEFAULT_LIMITS, packLine: 500 } }), {
    next: 'refuse',
    code: 'pack_line_too_long',
    message: /long, line 1 has more than 500B of JSON\. A line holds one block.*--limit packLine=N/,
  })
  await assert.rejects(readAll(await put('bloated', `{"block":[${'[],'.repeat(2_000_000)}[]]}`)), {
    next: 'refuse',
    code: 'pack_not_a_block',
    message: /bloated, line 1: it has more arrays, objects and members than any block/,
  })
  await assert.rejects(readAll('/nowhere/pack'), {
    code: 'pack_not_found',
    message: '/nowhere/pack: there is no such file',
  })
  await assert.rejects(readAll(tmpdir()), { code: 'pack_not_a_file', message: /this is a folder/ })
})

test('a gzip file that is cut off gives its whole lines first', async t => {
  const put = await tempFolder(t)
  const many = makeChain({ blocks: 200 }).map(formatPackLine).join('')
  const zipped = gzipSync(many)
  const path = await put('pack', zipped.subarray(0, zipped.length >> 1))
  const seen: number[] = []
  await assert.rejects(
    async () => {
      for await (const { line } of readPack(path)) seen.push(line)
    },
    error => {
      assert.ok(error instanceof ChainsieveError)
      assert.equal(error.code, 'pack_truncated')
      assert.equal(
        error.message,
        `${path}: the gzip file is cut off after line ${seen.length}. Copy or record it again`,
      )
      return true
    },
  )
  assert.ok(seen.length > 10 && seen.length < 200, String(seen.length))
})

test('an abort ends reading, and so does leaving the loop', async t => {
  const put = await tempFolder(t)
  const path = await put('pack', text)
  const controller = new AbortController()
  await assert.rejects(async () => {
    for await (const _ of readPack(path, { signal: controller.signal })) controller.abort(new Error('enough'))
    controller.signal.throwIfAborted()
  }, /enough/)
  for await (const { line } of readPack(path)) {
    assert.equal(line, 1)
    break
  }
})

test('a pack larger than the memory it takes', async t => {
  const folder = await mkdtemp(join(tmpdir(), 'chainsieve-test-'))
  t.after(() => rm(folder, { recursive: true }))
  const path = join(folder, 'pack')
  const file = createWriteStream(path)
  const block = formatPackLine(makeChain({ blocks: 1, txs: 300, logs: 10 })[0]!)
  for (let i = 0; i < 150; i++) if (!file.write(block)) await once(file, 'drain')
  file.end()
  await once(file, 'close')
  let bytes = 0
  let most = 0
  const before = process.memoryUsage()
  for await (const line of readPackLines(path)) {
    bytes += line.bytes.length
    const now = process.memoryUsage()
    most = Math.max(most, now.rss - before.rss)
  }
  assert.ok(bytes > 150e6, String(bytes))
  assert.ok(most < 100e6, `${most} bytes more`)
})

test('reading tells how far it is, in bytes of the file', async t => {
  const put = await tempFolder(t)
  for (const content of [text, gzipSync(text)]) {
    let read = 0
    for await (const _ of readPack(await put('pack', content), {
      onRead: bytes => {
        read = bytes
      },
    }))
      assert.ok(read > 0)
    assert.equal(read, Buffer.byteLength(content))
  }
})

test('the real mainnet pack', { skip: !hasMainnet }, async () => {
  const blocks = await readAll(mainnetPack, { chainId: 1 })
  assert.deepEqual(
    blocks.map(it => [it.line, Number(it.block.block.number), it.block.receipts.length]),
    [
      [1, 17173049, 116],
      [2, 17173050, 182],
      [3, 17999999 + 1, 94],
      [4, 18000256, 9],
      [5, 18000512, 5],
    ],
  )
})

test('the fault finder agrees with JSON.parse on any text, and tells cut from wrong', () => {
  const isJson = (it: string) => {
    try {
      JSON.parse(it)
      return true
    } catch {
      return false
    }
  }
  const json = fc.json({ maxDepth: 4 })
  fc.assert(
    fc.property(
      json,
      fc.nat(),
      fc.nat(),
      fc.constantFrom('', '"', ',', '[', '}', ':', '\\', '\\u12', 'x', '0', '-', 'e', '.', ' ', '\n', '\t'),
      (it, a, b, put) => {
        const from = a % (it.length + 1)
        const edited = it.slice(0, from) + put + it.slice(from + (b % 3))
        assert.equal(findJsonFault(edited) === undefined, isJson(edited), edited)
      },
    ),
    { numRuns: 3000 },
  )
  fc.assert(
    fc.property(fc.array(json), fc.nat(), (items, a) => {
      const whole = `[${items.join(',')}]`
      const part = whole.slice(0, a % whole.length)
      const fault = findJsonFault(part)
      assert.deepEqual([fault?.cut, fault?.offset], [true, part.length], part)
    }),
    { numRuns: 1000 },
  )
  assert.deepEqual(findJsonFault('['.repeat(100_000))?.cut, true)
})
