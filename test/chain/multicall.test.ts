import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { decodeFunctionData, encodeFunctionResult, type Hex, multicall3Abi } from 'viem'
import { decodeAnswers, encodeQuestions, MULTICALL3 } from '../../src/chain/multicall.ts'
import type { ReadQuestion } from '../../src/chain/source.ts'
import { systemClock } from '../../src/lib/retry.ts'
import { anvilPath, startAnvil } from '../support/anvil.ts'
import { never, sourceOf } from '../support/chain-source.ts'
import { fastClock, NodeError, startNode } from '../support/node.ts'
import { makeChain } from '../support/pack.ts'

const address = (n: number): Hex => `0x${n.toString(16).padStart(40, '0')}`
const words = (length: number, seed: number): Hex =>
  `0x${Array.from({ length }, (_, i) => ((i * 7 + seed) % 256).toString(16).padStart(2, '0')).join('')}`
const chain = makeChain({ blocks: 10 })
const [last] = chain.slice(-1) as [(typeof chain)[number]]

interface AggregateCall {
  target: Hex
  allowFailure: boolean
  callData: Hex
}
const callsIn = (data: string): readonly AggregateCall[] => {
  const { functionName, args } = decodeFunctionData({ abi: multicall3Abi, data: data as Hex })
  assert.equal(functionName, 'aggregate3')
  return args[0] as readonly AggregateCall[]
}
const answerOf = (result: { success: boolean; returnData: Hex }[]): Hex =>
  encodeFunctionResult({ abi: multicall3Abi, functionName: 'aggregate3', result })

test('questions are written, and answers read, as viem does it', () => {
  for (let count = 0; count < 40; count++) {
    const questions = Array.from(
      { length: count },
      (_, i): ReadQuestion =>
        (i + count) % 3 === 0
          ? { balanceOf: address(i + 1) }
          : { to: address(i + 1), data: words((i * 13 + count) % 100, i) },
    )
    assert.deepEqual(
      callsIn(encodeQuestions(questions)).map(it => ({ ...it, target: it.target.toLowerCase() })),
      questions.map(it => ({
        allowFailure: true,
        ...('balanceOf' in it
          ? { target: MULTICALL3, callData: `0x4d2301cc${it.balanceOf.slice(2).padStart(64, '0')}` }
          : { target: it.to, callData: it.data }),
      })),
    )
    const result = questions.map((_, i) => ({
      success: (i + count) % 4 > 0,
      returnData: words((i * 11 + count) % 90, i),
    }))
    assert.deepEqual(
      decodeAnswers(answerOf(result), count),
      result.map(({ success, returnData }) => (success ? returnData : undefined)),
    )
  }
})

test('an answer that is cut or means something else is none', () => {
  const whole = answerOf([
    { success: true, returnData: words(32, 1) },
    { success: false, returnData: words(70, 2) },
  ])
  assert.equal(decodeAnswers('0x', 2), undefined)
  assert.equal(decodeAnswers(whole, 3), undefined)
  for (let length = 2; length < whole.length - 64; length += 2)
    assert.equal(decodeAnswers(whole.slice(0, length), 2), undefined, String(length))
  for (let at = 2; at < whole.length; at += 2) {
    const wrong = `${whole.slice(0, at)}ff${whole.slice(at + 2)}`
    assert.doesNotThrow(() => decodeAnswers(wrong, 2))
  }
})

test('what is asked at one block in one turn is one call, and what fails in it is asked alone', async t => {
  const node = await startNode(t, chain)
  const single = (to: string) => {
    if (to.endsWith('3')) throw new NodeError(3, 'execution reverted: no')
    return words(32, Number(to))
  }
  node.methods.set('eth_call', ([call]) => {
    const { to, data } = call as { to: string; data: string }
    if (to !== MULTICALL3) return single(to)
    return answerOf(
      callsIn(data).map(({ target }) => {
        if (target.toLowerCase() === MULTICALL3) return { success: true, returnData: words(32, 5) }
        return target.endsWith('3')
          ? { success: false, returnData: '0x' }
          : { success: true, returnData: single(target) as Hex }
      }),
    )
  })
  const source = sourceOf(t, node)
  const ask = (questions: readonly ReadQuestion[]) => source.stateAt!(last.block.hash, questions, never)
  const answers = await Promise.all([
    ask([{ balanceOf: address(1) }, { balanceOf: address(2) }]),
    ask([{ to: address(3), data: '0x01' }]),
    ask([{ to: address(4), data: '0x02' }]),
  ])
  const balance = { hex: `0x${BigInt(words(32, 5)).toString(16)}` }
  assert.deepEqual(answers, [[balance, balance], [{ error: 'execution reverted: no' }], [{ hex: words(32, 4) }]])
  const asked = node.calls.filter(({ method }) => method === 'eth_call').map(({ params }) => params)
  assert.deepEqual(
    asked.map(([call, at]) => [(call as { to: string }).to, at]),
    [MULTICALL3, address(3)].map(to => [to, { blockHash: last.block.hash, requireCanonical: true }]),
  )
})

test('a chain without the contract is asked singly, and for the contract again only after some time', async t => {
  const node = await startNode(t, chain)
  node.methods.set('eth_call', () => '0x')
  node.methods.set('eth_getBalance', () => '0x7')
  let time = 0
  const source = sourceOf(t, node, { clock: { ...fastClock(), elapsed: () => time } })
  const ask = () => source.stateAt!(last.block.hash, [{ balanceOf: address(1) }, { balanceOf: address(2) }], never)
  const calls = () => node.calls.filter(({ method }) => method === 'eth_call').length
  const expected = [{ hex: '0x7' }, { hex: '0x7' }]
  assert.deepEqual([await ask(), calls()], [expected, 1])
  assert.deepEqual([await ask(), calls()], [expected, 1])
  time = 600_001
  assert.deepEqual([await ask(), calls()], [expected, 2])
  // Of the past, one block says nothing of another.
  const past = () => source.pastStateAt!(last.block.hash, [{ balanceOf: address(1) }, { balanceOf: address(2) }], never)
  assert.deepEqual([await past(), calls()], [expected, 3])
  assert.deepEqual([await past(), calls()], [expected, 4])
})

test('state of the past leaves to the head what the budget keeps for it', async t => {
  const node = await startNode(t, chain)
  node.methods.set('eth_getBalance', () => '0x7')
  const source = sourceOf(t, node, { clock: systemClock, allowances: [{ daily: 50 }] })
  const ask = (read: 'stateAt' | 'pastStateAt', signal = never) =>
    source[read]!(last.block.hash, [{ balanceOf: address(1) }], signal)
  await ask('pastStateAt')
  for (let i = 0; i < 44; i++) await ask('stateAt')
  await assert.rejects(ask('pastStateAt', AbortSignal.timeout(300)), /timeout/)
  assert.deepEqual(await ask('stateAt'), [{ hex: '0x7' }])
})

/** The code of the contract, as viem deploys it. */
const codeOfContract = (): string => {
  const [, code] = /multicall3Bytecode =\s+'0x\w+?6000f3fe(\w+)'/.exec(
    readFileSync(new URL('../../node_modules/viem/constants/contracts.ts', import.meta.url), 'utf8'),
  )!
  return `0x${code}`
}

test('the real contract answers as single questions do', {
  skip: anvilPath === undefined && 'there is no anvil for this platform',
}, async t => {
  const anvil = await startAnvil(t)
  const reverts = address(0xdead)
  const answers = address(0xbeef)
  await anvil.call('anvil_setCode', reverts, '0x600080fd')
  await anvil.call('anvil_setCode', answers, '0x60005460005260206000f3')
  await anvil.call('anvil_setBalance', address(7), '0xde0b6b3a7640000')
  await anvil.call('evm_mine')
  const questions: ReadQuestion[] = [
    ...[anvil.from, address(7), address(8)].map(balanceOf => ({ balanceOf })),
    ...[reverts, answers, address(9)].map(to => ({ to, data: '0x12345678' })),
  ]
  const ask = async () => {
    const { hash } = await anvil.call<{ hash: string }>('eth_getBlockByNumber', 'latest', false)
    return sourceOf(t, anvil).stateAt!(hash, questions, never)
  }
  const singly = await ask()
  await anvil.call('anvil_setCode', MULTICALL3, codeOfContract())
  await anvil.call('evm_mine')
  const together = await anvil.call<string>('eth_call', { to: MULTICALL3, data: encodeQuestions(questions) }, 'latest')
  assert.deepEqual(
    decodeAnswers(together, questions.length)?.map(it => it !== undefined),
    singly.map(it => 'hex' in it),
  )
  assert.deepEqual(await ask(), singly)
})
