import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { mutations } from '../../scripts/attack/mutate-block.ts'
import { createRandom } from '../../scripts/lib/random.ts'
import { checkTraces } from '../../src/chain/check/check-traces.ts'
import { fromCallTracer, fromTraceBlock, toTraceError } from '../../src/chain/check/normal-traces.ts'
import type { CallTrace, RawBlock, RpcTrace } from '../../src/chain/wire.ts'
import { ChainsieveError } from '../../src/lib/errors.ts'
import { gunzipLines, hex, mainnetFolder, makeChain } from '../support/pack.ts'
import { type Act, callTrees, FAILURES, traceBlock } from '../support/traces.ts'

const at = (n: number) => `0x${n.toString(16).padStart(2, '0').repeat(20)}`
const makeBlock = (txs: number): RawBlock => makeChain({ from: 7, blocks: 1, txs, logs: 0 })[0]!

const messageOf = (run: () => unknown): string | undefined => {
  try {
    run()
    return undefined
  } catch (error) {
    assert.ok(error instanceof ChainsieveError, String(error))
    assert.equal(error.next, 'retry')
    assert.equal(error.code, 'block_inconsistent')
    return error.message.replaceAll(/0x[0-9a-f]{40,64}/g, '#')
  }
}

/** Three transactions: one with two levels of everything, one that fails, one that creates. */
const TOPS: Act[] = [
  {
    kind: 'call',
    to: at(1),
    value: '0x64',
    gas: 90_000,
    gasUsed: 5_000,
    input: '0x11223344',
    acts: [
      { kind: 'staticcall', to: at(2), gas: 8, gasUsed: 3, output: '0x01' },
      {
        kind: 'delegatecall',
        to: at(3),
        acts: [
          { kind: 'delegatecall', to: at(4) },
          { kind: 'call', to: at(5), value: '0x1', error: 'Reverted', output: '0x08c379a0' },
        ],
      },
      { kind: 'callcode', to: at(6), value: '0x7', error: 'Out of gas' },
      {
        kind: 'create',
        to: at(7),
        input: '0x6001',
        output: '0xfe',
        acts: [{ kind: 'suicide', to: at(1), value: '0x9' }],
      },
      { kind: 'create2', to: at(8), input: '0x6002', error: 'Reverted', output: '0xdead' },
      { kind: 'create', to: at(9), input: '0x6003', error: 'Contract address collision' },
    ],
  },
  { kind: 'call', to: at(10), error: 'Bad instruction' },
  { kind: 'create', to: at(11), input: '0x60ff', gas: 1000, gasUsed: 40, output: '0x00' },
]

const good = (): RawBlock => {
  const raw = makeBlock(TOPS.length)
  raw.traces = traceBlock(raw, TOPS)
  return raw
}

test('the form of geth comes out in that of trace_block, field by field', () => {
  const raw = good()
  const results = callTrees(raw, raw.traces!)
  assert.deepEqual(fromCallTracer(raw, results), raw.traces)
  const [tx] = raw.block.transactions
  const place = { blockHash: raw.block.hash, blockNumber: 7, transactionHash: tx!.hash, transactionPosition: 0 }
  assert.deepEqual(raw.traces!.slice(0, 5), [
    {
      ...place,
      type: 'call',
      action: { callType: 'call', from: tx!.from, to: at(1), gas: '0x15f90', input: '0x11223344', value: '0x64' },
      result: { gasUsed: '0x1388', output: '0x' },
      subtraces: 6,
      traceAddress: [],
    },
    {
      ...place,
      type: 'call',
      action: { callType: 'staticcall', from: at(1), to: at(2), gas: '0x8', input: '0x', value: '0x0' },
      result: { gasUsed: '0x3', output: '0x01' },
      subtraces: 0,
      traceAddress: [0],
    },
    {
      ...place,
      type: 'call',
      action: { callType: 'delegatecall', from: at(1), to: at(3), gas: '0x0', input: '0x', value: '0x64' },
      result: { gasUsed: '0x0', output: '0x' },
      subtraces: 2,
      traceAddress: [1],
    },
    {
      ...place,
      type: 'call',
      action: { callType: 'delegatecall', from: at(1), to: at(4), gas: '0x0', input: '0x', value: '0x64' },
      result: { gasUsed: '0x0', output: '0x' },
      subtraces: 0,
      traceAddress: [1, 0],
    },
    {
      ...place,
      type: 'call',
      action: { callType: 'call', from: at(1), to: at(5), gas: '0x0', input: '0x', value: '0x1' },
      result: { gasUsed: '0x0', output: '0x08c379a0' },
      error: 'Reverted',
      subtraces: 0,
      traceAddress: [1, 1],
    },
  ] satisfies RpcTrace[])
  assert.deepEqual(
    raw.traces!.slice(5).map(it => [it.traceAddress.join(), it.type, it.action, it.result]),
    [
      ['2', 'call', { callType: 'callcode', from: at(1), to: at(6), gas: '0x0', input: '0x', value: '0x7' }, null],
      [
        '3',
        'create',
        { creationMethod: 'create', from: at(1), gas: '0x0', init: '0x6001', value: '0x0' },
        { address: at(7), code: '0xfe', gasUsed: '0x0' },
      ],
      ['3,0', 'suicide', { address: at(7), refundAddress: at(1), balance: '0x9' }, null],
      [
        '4',
        'create',
        { creationMethod: 'create2', from: at(1), gas: '0x0', init: '0x6002', value: '0x0' },
        { code: '0xdead', gasUsed: '0x0' },
      ],
      ['5', 'create', { creationMethod: 'create', from: at(1), gas: '0x0', init: '0x6003', value: '0x0' }, null],
      ['', 'call', { callType: 'call', from: tx!.from, to: at(10), gas: '0x0', input: '0x', value: '0x0' }, null],
      [
        '',
        'create',
        { creationMethod: 'create', from: tx!.from, gas: '0x3e8', init: '0x60ff', value: '0x0' },
        { address: at(11), code: '0x00', gasUsed: '0x28' },
      ],
    ],
  )
})

test('variants of the form of geth: bare trees, null for empty, value of delegatecalls, gas, letters', () => {
  const raw = good()
  const results = callTrees(raw, raw.traces!)
  const expected = raw.traces
  const bare = results.map(it => it.result)
  assert.deepEqual(fromCallTracer(raw, bare), expected, 'bare')
  assert.deepEqual(
    fromCallTracer(
      raw,
      results.map(({ result }) => ({ result })),
    ),
    expected,
    'without hashes',
  )

  /** Every frame of all trees, changed. */
  const edit = (change: (frame: Record<string, unknown>) => void) => {
    const copy = structuredClone(results)
    const waiting = copy.map(it => it.result)
    for (let frame = waiting.pop(); frame !== undefined; frame = waiting.pop()) {
      waiting.push(...((frame.calls ?? []) as Record<string, unknown>[]))
      change(frame)
    }
    return fromCallTracer(raw, copy)
  }
  assert.deepEqual(
    edit(frame => {
      frame.calls ??= []
      frame.error ??= null
      frame.output ??= null
      frame.revertReason ??= ''
      frame.value ??= null
    }),
    expected,
  )
  assert.deepEqual(
    edit(frame => {
      if (frame.type === 'DELEGATECALL') delete frame.value
      if (frame.type === 'SELFDESTRUCT') delete frame.gas
      frame.type = String(frame.type).toLowerCase()
    }),
    expected,
  )
  assert.deepEqual(
    edit(frame => {
      if (frame.error === 'execution reverted') frame.error = 'execution reverted: too little'
    }),
    expected,
  )
  // Nodes before 2023 and those of revm take the cost of the transaction off the gas by themselves.
  const tops = (expected as CallTrace[]).filter(it => it.traceAddress.length === 0)
  assert.deepEqual(
    edit(frame => {
      const top = results.findIndex(it => it.result.gas === frame.gas)
      if (top >= 0) frame.gas = tops[top]!.action.gas
    }),
    expected,
  )
  // What is left out at the top is in the transaction's receipt.
  assert.deepEqual(
    edit(frame => {
      if (frame.to === at(11)) delete frame.to
    }),
    expected,
  )
  // And anvil counts the gas of all transactions up to it.
  assert.deepEqual(
    edit(frame => {
      if (frame.gasUsed === results[1]!.result.gasUsed) frame.gasUsed = '0xffffff'
    }),
    expected,
  )
})

test('what a transaction costs as such is taken off, whatever is in it', () => {
  const raw = makeBlock(1)
  const traces = traceBlock(raw, [{ kind: 'create', to: at(1), gas: 77, gasUsed: 7 }])
  const more = 16 + 3 * 4 + 2 + 2 * 2_400 + 3 * 1_900 + 25_000
  const [tx] = raw.block.transactions
  const input = '0x00ff0000'
  Object.assign(tx!, {
    input,
    gas: hex(Number(tx!.gas) + more),
    accessList: [
      { address: at(2), storageKeys: [at(3), at(4), at(5)] },
      { address: at(2), storageKeys: [] },
    ],
    authorizationList: [{}],
  })
  raw.block.withdrawalsRoot = at(6)
  raw.receipts[0]!.gasUsed = hex(Number(raw.receipts[0]!.gasUsed) + more)
  Object.assign(traces[0]!.action, { init: input })
  assert.deepEqual(fromCallTracer(raw, callTrees(raw, traces)), traces)
})

test('where a node tells what the transaction cost, that counts', () => {
  const raw = makeBlock(1)
  const traces = traceBlock(raw, [{ kind: 'call', to: at(1), gas: 500, gasUsed: 70 }])
  const [tree] = callTrees(raw, traces)
  const cost = 98_765
  raw.block.transactions[0]!.gas = hex(cost + 500)
  raw.receipts[0]!.gasUsed = hex(cost + 70)
  assert.deepEqual(fromCallTracer(raw, [{ ...tree!, result: { ...tree!.result, gas: hex(500) } }]), traces)
})

test('a precompile that fails is one that failed, in whatever words', () => {
  const raw = makeBlock(1)
  const to = `0x${'0'.repeat(39)}6`
  const traces = traceBlock(raw, [
    { kind: 'call', to, acts: [{ kind: 'call', to, value: '0x1', error: 'Built-in failed' }] },
  ])
  const say = (words: string) => {
    const trees = callTrees(raw, traces)
    Object.assign((trees[0]!.result.calls as object[])[0]!, { error: words })
    return fromCallTracer(raw, trees)
  }
  for (const words of ['bn256: malformed point', 'invalid input length', 'PrecompileError']) {
    assert.deepEqual(say(words), traces)
  }
  assert.deepEqual(fromTraceBlock(raw.block, [traces[0], { ...traces[1], error: 'bn256: malformed point' }]), traces)
})

test('calls of precompiles that move nothing are left out, whichever node tells them', () => {
  const builtIn = (n: number) => `0x${n.toString(16).padStart(40, '0')}`
  const raw = makeBlock(2)
  const kept = (...inner: Act[]): Act[] => [
    { kind: 'call', to: builtIn(4), value: '0x1', gasUsed: 15 },
    // Not there yet, or never: nothing answers, and nothing is used.
    { kind: 'staticcall', to: builtIn(0x100) },
    { kind: 'call', to: builtIn(0x12), gasUsed: 1 },
    { kind: 'delegatecall', to: at(3), acts: [{ kind: 'call', to: at(4), acts: inner }] },
    // Something is there that calls others.
    { kind: 'call', to: builtIn(9), gasUsed: 50, acts: [{ kind: 'staticcall', to: at(5) }] },
  ]
  const idle: Act[] = [
    { kind: 'staticcall', to: builtIn(1), gasUsed: 3000 },
    { kind: 'call', to: builtIn(6), error: 'Built-in failed' },
    { kind: 'staticcall', to: builtIn(0x100), gasUsed: 3450 },
    { kind: 'call', to: builtIn(5) },
    { kind: 'callcode', to: builtIn(0x11), gasUsed: 7 },
  ]
  const top: Act = { kind: 'call', to: at(1) }
  const all = { ...top, acts: kept(...idle).flatMap((act, i) => [idle[i]!, act]) }
  const expected = traceBlock(raw, [
    { ...top, acts: kept() },
    { ...top, acts: kept() },
  ])
  const told = traceBlock(raw, [all, all])
  assert.deepEqual(fromCallTracer(raw, callTrees(raw, told)), expected)
  assert.deepEqual(fromTraceBlock(raw.block, structuredClone(told)), expected)
  checkTraces({ ...raw, traces: expected })

  const alone = makeBlock(1)
  const isKept = (act: Act) => {
    const traces = traceBlock(alone, [act])
    assert.deepEqual(fromCallTracer(alone, callTrees(alone, traces)), traces)
    assert.deepEqual(fromTraceBlock(alone.block, traces), traces)
  }
  // A delegatecall moves nothing, but has its caller's value.
  isKept({ ...top, value: '0x1', acts: [{ kind: 'delegatecall', to: builtIn(4) }] })
  // A transaction straight to one is what it is.
  isKept({ kind: 'call', to: builtIn(4), gasUsed: 15 })

  // Leaving calls out mends nothing.
  const broken: ((traces: CallTrace[]) => unknown)[] = [
    it => it.splice(2, 1),
    it => Object.assign(it[2]!, { traceAddress: [9] }),
    it => Object.assign(it[1]!, { traceAddress: ['0'] }),
    it => Object.assign(it[1]!, { traceAddress: '0' }),
    it => it[0]!.subtraces++,
    it => it.shift(),
    it => Object.assign(it.find(({ traceAddress }) => traceAddress.length === 2)!, { traceAddress: [8, 0] }),
    it => Object.assign(it, { 3: null }),
  ]
  for (const [i, spoil] of broken.entries()) {
    const traces = structuredClone(told) as CallTrace[]
    spoil(traces)
    const fault = messageOf(() => checkTraces({ ...raw, traces: fromTraceBlock(raw.block, traces) }))
    assert.ok(fault, `fault ${i}`)
  }
})

test('all words of nodes for one fault become one', () => {
  const words: Record<string, string[]> = {
    Reverted: ['execution reverted', 'Reverted', 'revert', 'execution reverted: ERC20: no', 'Revert'],
    'Out of gas': [
      'out of gas',
      'OutOfGas',
      'out of gas: out of memory',
      'contract creation code storage out of gas',
      'gas uint64 overflow',
      'MemoryOOG',
      'ReentrancySentryOOG',
    ],
    'Bad instruction': [
      'invalid opcode: INVALID',
      'invalid opcode: opcode 0xc not defined',
      'invalid opcode',
      'OpcodeNotFound',
      'Bad instruction',
    ],
    'Bad jump destination': ['invalid jump destination', 'InvalidJump', 'Bad jump destination'],
    'Stack underflow': ['stack underflow (0 <=> 2)', 'StackUnderflow'],
    'Out of stack': ['stack limit reached 1024 (1023)', 'StackOverflow', 'Stack overflow', 'Out of stack'],
    'Mutable Call In Static Context': [
      'write protection',
      'StateChangeDuringStaticCall',
      'CallNotAllowedInsideStatic',
      'Static call violation',
      'Mutable Call In Static Context',
    ],
    'Out of bounds': ['return data out of bounds', 'OutOfOffset', 'Access violation'],
    'Built-in failed': ['precompiled failed', 'PrecompileError', 'invalid input length', 'Built-in failed'],
    'Contract address collision': ['contract address collision', 'CreateCollision'],
    'Insufficient balance for transfer': ['insufficient balance for transfer', 'OutOfFunds'],
    'Call depth exceeded': ['max call depth exceeded', 'CallTooDeep'],
    'Code size limit exceeded': ['max code size exceeded', 'CreateContractSizeLimit'],
    'Initcode size limit exceeded': ['max initcode size exceeded', 'CreateInitCodeSizeLimit'],
    'Invalid code prefix 0xEF': ['invalid code: must not begin with 0xef', 'CreateContractStartingWithEF'],
    'Nonce overflow': ['nonce uint64 overflow', 'NonceOverflow'],
    'Something new': ['something new', 'Something new'],
    '': [''],
  }
  for (const [error, texts] of Object.entries(words)) {
    for (const text of [...texts, error]) assert.equal(toTraceError(text), error, text)
  }
})

test('trace_block of other nodes comes into the same form', () => {
  const raw = good()
  const answer = structuredClone(raw.traces!) as unknown as Record<string, Record<string, unknown>>[]
  for (const trace of answer as unknown as Record<string, unknown>[]) {
    if (trace.error === 'Out of gas') trace.error = 'out of gas'
    if (trace.error === 'Contract address collision')
      Object.assign(trace, { result: { address: at(9), code: '0x', gasUsed: '0x0' } })
    if (trace.error === 'Reverted' && trace.type === 'create') Object.assign(trace.result as object, { address: at(8) })
    if (trace.error === 'Bad instruction') Object.assign(trace, { error: 'invalid opcode: INVALID', result: undefined })
    if (trace.error === undefined) trace.error = null
    if (trace.type === 'suicide') delete trace.result
    Object.assign(trace, { blockNumber: '0x7', transactionPosition: hex(trace.transactionPosition as number) })
    delete trace.blockHash
  }
  assert.deepEqual(fromTraceBlock(raw.block, answer), raw.traces)
  const kept = fromTraceBlock(raw.block, raw.traces)
  for (const [i, trace] of kept.entries()) assert.equal(trace, raw.traces![i])
  const reward = {
    type: 'reward',
    action: { author: at(1), rewardType: 'block', value: '0x1' },
    blockHash: raw.block.hash,
    blockNumber: 7,
    result: null,
    subtraces: 0,
    traceAddress: [],
  }
  assert.deepEqual(fromTraceBlock(raw.block, [reward]), [reward])
})

test('a call tree that is missing, failed or of another transaction is not taken', () => {
  const raw = good()
  const results = callTrees(raw, raw.traces!)
  const bare = results.map(it => it.result)
  const faults: [unknown, string][] = [
    [null, 'block 7 has no list of call trees: null'],
    [{}, 'block 7 has no list of call trees: {}'],
    [[], 'block 7 has 3 transactions but 0 call trees'],
    [results.slice(0, 2), 'block 7 has 3 transactions but 2 call trees'],
    [[...results, results[0]], 'block 7 has 3 transactions but 4 call trees'],
    [results.toReversed(), 'block 7: call tree 0 is of transaction #, not #'],
    [results.slice(1), 'block 7: call tree 0 is of transaction #, not #'],
    [bare.slice(1), 'block 7: call tree 0 is not that of transaction #'],
    [bare.slice(0, 2), 'block 7 has 3 transactions but 2 call trees'],
    [[null, ...bare.slice(1)], 'block 7: call tree 0 has no call in it: null'],
    [[...results.slice(0, 2), { ...results[2], result: {} }], 'block 7: call tree 2 has no call in it: {}'],
    [
      [...results.slice(0, 2), { txHash: results[2]!.txHash, error: 'execution timeout' }],
      'block 7: call tree 2 failed: execution timeout',
    ],
    [
      [{ txHash: results[0]!.txHash, result: { ...bare[0], calls: {} } }, ...results.slice(1)],
      'block 7: call tree 0 has no list of inner calls: {}',
    ],
    [
      [{ txHash: results[0]!.txHash, result: { ...bare[0], calls: [7] } }, ...results.slice(1)],
      'block 7: call tree 0 has no call in it: 7',
    ],
  ]
  for (const [answer, message] of faults)
    assert.equal(
      messageOf(() => fromCallTracer(raw, answer)),
      message,
    )
})

test('transactions that no EVM runs may be without traces', () => {
  const raw = makeBlock(4)
  const tops: Act[] = [
    { kind: 'call', to: at(1) },
    { kind: 'call', to: at(2) },
    { kind: 'call', to: at(3) },
  ]
  traceBlock(raw, [tops[0]!, tops[0]!, tops[1]!, tops[2]!])
  const whole = traceBlock(raw, [tops[0]!, tops[0]!, tops[1]!, tops[2]!])
  raw.block.transactions[1]!.gas = '0x0'
  raw.block.transactions[3]!.gas = '0x0'
  const traces = whole.filter(it => it.type !== 'reward' && it.transactionPosition % 2 === 0)
  checkTraces({ ...raw, traces })
  assert.deepEqual(fromCallTracer(raw, callTrees(raw, traces)), traces)
  raw.block.transactions[1]!.gas = '0x1'
  assert.equal(
    messageOf(() => checkTraces({ ...raw, traces })),
    'block 7: trace 1 is of transaction 2 # instead of 1 #',
  )
  assert.equal(
    messageOf(() => fromCallTracer(raw, callTrees(raw, traces))),
    'block 7: call tree 1 is of transaction #, not #',
  )
})

test('every lie about traces is named', () => {
  const inner = (raw: RawBlock, i: number) => raw.traces![i] as CallTrace
  const fork = makeChain({ from: 7, blocks: 1, txs: 3, logs: 0, salt: 'fork' })[0]!
  const lies: Record<string, (raw: RawBlock) => void> = {
    'block 7: traces is null, not a list': raw => Object.assign(raw, { traces: null }),
    'block 7 has no traces of transaction 0 # and those after it': raw => Object.assign(raw, { traces: [] }),
    'block 7: the traces of transaction 0 are incomplete: [] announces 6 inner ones, 4 came': raw =>
      raw.traces!.splice(8),
    'block 7 has no traces of transaction 2 # and those after it': raw => raw.traces!.splice(-1),
    'block 7: trace 0 is of transaction 1 # instead of 0 #': raw => raw.traces!.splice(0, 10),
    'block 7: trace 3 of transaction 0 is at [1,1], which does not follow [1]': raw => raw.traces!.splice(3, 1),
    'block 7: the traces of transaction 0 are incomplete: [1] announces 2 inner ones, 1 came': raw =>
      raw.traces!.splice(4, 1),
    'block 7: the traces of transaction 0 are incomplete: [1] announces 2 inner ones, 3 came': raw =>
      raw.traces!.splice(5, 0, { ...inner(raw, 4), traceAddress: [1, 2] }),
    'block 7: trace 5 of transaction 0 is at [1,1], which does not follow [1,1]': raw =>
      raw.traces!.splice(5, 0, inner(raw, 4)),
    'block 7: trace 2 of transaction 0 is at [1,0], which does not follow [0]': raw =>
      raw.traces!.splice(2, 3, inner(raw, 3), inner(raw, 2)),
    'block 7: trace 1 of transaction 0 is at [0,0], which does not follow []': raw =>
      Object.assign(inner(raw, 1), { traceAddress: [0, 0] }),
    'block 7: trace 12 is of transaction #, which does not come after place 2 in the block': raw =>
      raw.traces!.push(raw.traces!.at(-1)!),
    'block 7 #: trace 0 is of block 7 #, not of this one': raw =>
      Object.assign(raw, { traces: traceBlock(fork, TOPS) }),
    'block 7 #: trace 3 is of block 8 #, not of this one': raw => Object.assign(inner(raw, 3), { blockNumber: 8 }),
    'block 7: trace 3 is of transaction 0 #, not of 0 #': raw =>
      Object.assign(inner(raw, 3), { transactionHash: `0x${'ab'.repeat(32)}` }),
    'block 7: trace 3 is of transaction 1 #, not of 0 #': raw =>
      Object.assign(inner(raw, 3), { transactionPosition: 1 }),
    'block 7: trace 0 is of transaction 0 #, not of any': raw => raw.traces!.shift(),
    'block 7: traces[2] is 7, not an object': raw => Object.assign(raw.traces!, { 2: 7 }),
    'block 7: traces[2].type is jump, not call, create, suicide, reward': raw =>
      Object.assign(inner(raw, 2), { type: 'jump' }),
    'block 7: traces[2].action is null, not an object': raw => Object.assign(inner(raw, 2), { action: null }),
    'block 7: traces[2].action.to is null, not an address (0x and 40 hex digits)': raw =>
      Object.assign(inner(raw, 2).action, { to: null }),
    'block 7: traces[2].action.value is 7.5, not a quantity (0x and up to 64 hex digits)': raw =>
      Object.assign(inner(raw, 2).action, { value: 7.5 }),
    'block 7: traces[2].action.input is 0x1, not whole bytes of hex': raw =>
      Object.assign(inner(raw, 2).action, { input: '0x1' }),
    'block 7: traces[2].result.output is nothing, not whole bytes of hex': raw =>
      Object.assign(inner(raw, 2).result!, { output: undefined }),
    'block 7: trace 2 has neither result nor error': raw => Object.assign(inner(raw, 2), { result: null }),
    'block 7: trace 11 has no address of the contract that it created: nothing': raw =>
      Object.assign(inner(raw, 11).result!, { address: undefined }),
    'block 7: traces[2].subtraces is 2, not an integer': raw => Object.assign(inner(raw, 2), { subtraces: '2' }),
    'block 7: traces[2].traceAddress is null, not a list': raw => Object.assign(inner(raw, 2), { traceAddress: null }),
    'block 7: traces[2].traceAddress[0] is 1, not an integer': raw =>
      Object.assign(inner(raw, 2), { traceAddress: ['1'] }),
    'block 7: traces[2].error is 7, not a text of up to 4096 characters': raw =>
      Object.assign(inner(raw, 2), { error: 7 }),
  }
  checkTraces(good())
  for (const [message, tamper] of Object.entries(lies)) {
    const raw = structuredClone(good())
    tamper(raw)
    const said = messageOf(() => checkTraces(raw))
    assert.equal(said, message)
  }
})

test('no call of a tree can be taken away, moved or doubled unnoticed', () => {
  const whole = good()
  for (let i = 0; i < whole.traces!.length; i++) {
    const without = whole.traces!.toSpliced(i, 1)
    const doubled = whole.traces!.toSpliced(i, 0, whole.traces![i]!)
    const moved = without.toSpliced((i + 1) % whole.traces!.length, 0, whole.traces![i]!)
    for (const traces of [without, doubled, moved])
      assert.ok(
        messageOf(() => checkTraces({ ...whole, traces })),
        `${i}`,
      )
  }
})

test('the genesis block may list what never ran', () => {
  const [genesis] = makeChain({ from: 0, blocks: 1, txs: 1 })
  checkTraces({ ...genesis!, traces: [] })
})

const quantity = fc.bigInt({ min: 0n, max: (1n << 256n) - 1n }).map(it => `0x${it.toString(16)}`)
const data = fc.uint8Array({ maxLength: 40 }).map(it => `0x${Buffer.from(it).toString('hex')}`)
const address = fc.uint8Array({ minLength: 20, maxLength: 20 }).map(it => `0x${Buffer.from(it).toString('hex')}`)
const kinds = ['call', 'callcode', 'delegatecall', 'staticcall', 'create', 'create2'] as const

const fields = {
  to: address,
  value: quantity,
  gas: fc.nat(),
  gasUsed: fc.nat(),
  input: data,
}

const act = (inner: fc.Arbitrary<unknown>) =>
  fc
    .record({
      ...fields,
      kind: fc.constantFrom(...kinds),
      error: fc.option(fc.constantFrom(...FAILURES), { nil: undefined, freq: 2 }),
      output: data,
      acts: inner as fc.Arbitrary<Act[]>,
    })
    .map(({ error, ...rest }): Act => (error === undefined ? rest : { ...rest, error }))
const suicide = fc.record({ to: address, value: quantity }).map((it): Act => ({ ...it, kind: 'suicide' }))
const { tree } = fc.letrec(tie => ({
  tree: act(
    fc.oneof({ maxDepth: 6 }, fc.constant([]), fc.array(fc.oneof(tie('tree'), tie('tree'), suicide), { maxLength: 4 })),
  ),
}))

test('random call trees, told by geth and by others, are the same traces', () => {
  fc.assert(
    fc.property(fc.array(tree as fc.Arbitrary<Act>, { maxLength: 4 }), tops => {
      const raw = makeBlock(tops.length)
      // The input of a transaction costs by its bytes, which the generator does not count.
      raw.traces = traceBlock(
        raw,
        tops.map(it => ({ ...it, input: '0x', kind: it.kind.startsWith('create') ? 'create' : 'call' })),
      )
      checkTraces(raw)
      const trees = JSON.parse(JSON.stringify(callTrees(raw, raw.traces)))
      const traces = fromCallTracer(raw, trees)
      assert.deepEqual(traces, raw.traces)
      assert.deepEqual(fromTraceBlock(raw.block, structuredClone(traces)), traces)
    }),
    { seed: 5, numRuns: 200 },
  )
})

test('whatever is wrong with a call tree is refused, or the traces are whole', () => {
  const raw = good()
  const random = createRandom()
  random.seek(3, 0, 0, 0)
  const count = { refused: 0, taken: 0 }
  for (const { path, what, raw: trees } of mutations(callTrees(raw, raw.traces!), () => random.unit())) {
    try {
      raw.traces = fromCallTracer(raw, JSON.parse(JSON.stringify(trees)))
      checkTraces(raw)
      count.taken++
    } catch (error) {
      assert.ok(error instanceof ChainsieveError, `${path}, ${what}: ${error}`)
      count.refused++
    }
    raw.traces = good().traces!
  }
  assert.ok(count.refused > 300 && count.taken > 50, JSON.stringify(count))
})

test('1,024 calls deep, and 100,000 beside each other', () => {
  const raw = makeBlock(2)
  let deep: Act = { kind: 'suicide', to: at(1) }
  for (let i = 0; i < 1024; i++) deep = { kind: i % 3 === 0 ? 'delegatecall' : 'call', to: at(i % 256), acts: [deep] }
  const wide: Act = {
    kind: 'call',
    to: at(1),
    acts: Array.from({ length: 100_000 }, (_, i) => ({ kind: 'staticcall', to: at(i % 256), output: '0x01' })),
  }
  raw.traces = traceBlock(raw, [{ ...deep, kind: 'call' }, wide])
  assert.equal(raw.traces.length, 1025 + 100_001)
  checkTraces(raw)
  const text = JSON.stringify(callTrees(raw, raw.traces))
  assert.deepEqual(fromCallTracer(raw, JSON.parse(text)), raw.traces)
})

const realTraces = join(mainnetFolder, 'traces.ndjson.gz')

test('real mainnet traces pass, and lose nothing', { skip: !existsSync(realTraces) }, () => {
  const errors: Record<string, number> = {}
  for (const line of gunzipLines(readFileSync(realTraces))) {
    const { blockHash, blockNumber, traces } = JSON.parse(line)
    const transactions = (traces as CallTrace[])
      .filter(it => it.transactionHash !== undefined && it.traceAddress.length === 0)
      .map(it => ({ hash: it.transactionHash, transactionIndex: hex(it.transactionPosition), gas: '0x1' }))
    const block = { number: blockNumber, hash: blockHash, transactions } as unknown as RawBlock['block']
    const ours = fromTraceBlock(block, structuredClone(traces))
    checkTraces({ block, receipts: [], traces: ours })
    for (const trace of ours) {
      if (trace.type !== 'reward' && trace.error !== undefined) errors[trace.error] = (errors[trace.error] ?? 0) + 1
    }
    const bare = (all: CallTrace[]) => all.map(({ error: _, ...rest }) => rest)
    assert.deepEqual(bare(ours as CallTrace[]), bare(traces))
    assert.ok(messageOf(() => checkTraces({ block, receipts: [], traces: ours.slice(0, ours.length >> 1) })))
  }
  assert.deepEqual(errors, { Reverted: 21, 'Out of gas': 4 })
})
