import type { Hex, RpcTrace } from '../../src/chain/wire.ts'
import { createRandom, quantity } from '../lib/random.ts'
import { createAbi } from './abi.ts'
import { CALLED, COMMON, DEEDS, type MadeFunction, type Topic, UNKNOWN_SELECTORS, VIEWS } from './events.ts'
import { createPopulation, type Party, type Token } from './population.ts'

/** What a made-up transaction did, as its traces are made from it. */
interface Deed {
  block: { hash: Hex; number: number }
  hash: Hex
  index: number
  sender: Party
  to: Party | null
  value: Hex
  input: Hex
  /** Limit and use of gas without what the transaction costs as such. */
  gas: number
  gasUsed: number
  failed: boolean
  created: Hex | null
  /** What it logged, or would have logged had it not failed. */
  emissions: readonly Emission[]
}

export interface Emission {
  emitter: Party
  topics: readonly Topic[]
  data: Hex
}

export type Tracer = ReturnType<typeof createTracer>

interface Step {
  kind: 'call' | 'staticcall' | 'delegatecall' | 'create' | 'suicide'
  from: Hex
  to: Hex
  value: Hex
  input: Hex
  output: Hex
  error: string | undefined
  steps: Step[]
}

const TRACES = 104

/**
 * Makes call trees around what transactions log, shaped like those of Ethereum in 2023: more than half of the transactions are one call,
 * the others have a dozen, one in a hundred some fifty; of ten traces five are calls, four ask, and one passes a proxy's call on. They
 * are drawn from a stream of their own, so that blocks are the same with them and without.
 */
export const createTracer = (root: number) => {
  const random = createRandom()
  const abi = createAbi(random)
  const people = createPopulation(root, random)

  const amount = (token: Token): Hex => {
    abi.amount(token)
    return abi.take()
  }
  const step = (host: Step, kind: Step['kind'], to: Hex, input: Hex, output: Hex = '0x', value: Hex = '0x0'): Step => {
    const made: Step = { kind, from: selfOf(host), to, value, input, output, error: undefined, steps: [] }
    host.steps.push(made)
    return made
  }
  /** Calls a contract, and returns the step that its code runs in: of a proxy that is the one below. */
  const call = (
    host: Step,
    to: Hex,
    input: Hex,
    { kind = 'call', output = '0x', value = '0x0' }: Partial<Pick<Step, 'kind' | 'output' | 'value'>> = {},
  ): Step => passedOn(step(host, kind, to, input, output, value))

  const passedOn = (outer: Step): Step =>
    isProxy(outer.to)
      ? step(outer, 'delegatecall', implementationOf(outer.to), outer.input, outer.output, outer.value)
      : outer

  const balance = (host: Step, token: Hex, owner: Hex, output = amount(people.weth)) =>
    call(host, token, `${CALLED.balanceOf}${wordOf(owner)}`, { kind: 'staticcall', output })

  const view = (host: Step, to: Hex) => {
    if (random.unit() < 0.45) return balance(host, people.token().address, selfOf(host))
    const { input, output } = callOf(VIEWS)
    const seen = call(host, to, input, { kind: 'staticcall', output })
    // Who asks is prepared for that.
    if (random.unit() < 0.02) for (const one of [host.steps.at(-1)!, seen]) fail(one, REVERTED, '0x')
    return seen
  }

  const callOf = (functions: readonly MadeFunction[]): { input: Hex; output: Hex } => {
    if (random.unit() < 0.06) return unknownCall()
    const { selector, inputs, outputs } = functions[random.skewed(functions.length)]!
    for (const type of inputs) abi.value(type, people.account)
    const input = `${selector}${abi.take().slice(2)}`
    for (const type of outputs) abi.value(type, people.account)
    return { input, output: abi.take() }
  }

  const unknownCall = (): { input: Hex; output: Hex } => {
    const selector = UNKNOWN_SELECTORS[random.skewed(UNKNOWN_SELECTORS.length)]!
    const words = random.unit() < 0.6 ? random.below(7) : 8 + random.skewed(50)
    for (let i = 0; i < words; i++) {
      const dice = random.unit()
      if (dice < 0.3) abi.address(dice < 0.15 ? people.token() : people.account())
      else if (dice < 0.6) abi.uint(random.skewed(1024))
      else if (dice < 0.95) abi.scaled(41, 5)
      else abi.random(32)
    }
    const input = `${selector}${abi.take().slice(2)}`
    const returned = random.unit() < 0.4 ? 0 : random.unit() < 0.85 ? 1 : 2 + random.below(4)
    for (let i = 0; i < returned; i++) abi.uint(random.skewed(100_000))
    return { input, output: abi.take() }
  }

  const transfer = (host: Step, { emitter, topics, data }: Emission, mayPull = true) => {
    const [, from, to] = topics
    if (mayPull && random.unit() < 0.55) balance(host, emitter.address, selfOf(host))
    const pulls = mayPull && from!.topic.slice(26) !== selfOf(host).slice(2) && random.unit() < 0.5
    const input: Hex = pulls
      ? `${CALLED.transferFrom}${wordIn(from!)}${wordIn(to!)}${data.slice(2)}`
      : `${CALLED.transfer}${wordIn(to!)}${data.slice(2)}`
    call(host, emitter.address, input, { output: emitter.address === TETHER ? '0x' : TRUE })
  }

  const swapV2 = (host: Step, swap: Emission, before: Emission[]) => {
    const pair = swap.emitter.address
    const [paid, bought] = before.splice(-2)
    abi.amount(people.weth)
    abi.amount(people.weth)
    abi.uint(1_700_000_000 + random.below(100_000_000))
    call(host, pair, CALLED.getReserves, { kind: 'staticcall', output: abi.take() })
    if (paid) transfer(host, paid)
    const out = swap.data.slice(130, 258)
    const input: Hex = `${CALLED.swapV2}${out}${wordIn(swap.topics[2]!)}${number(128)}${number(0)}`
    const pool = call(host, pair, input)
    if (bought) transfer(pool, bought, false)
    for (const one of [paid, bought]) if (one) balance(pool, one.emitter.address, pair)
  }

  const swapV3 = (host: Step, swap: Emission, before: Emission[]) => {
    const pool = swap.emitter.address
    const [bought, paid] = before.splice(-2)
    const zeroForOne = random.below(2)
    const amounts = swap.data.slice(2, 130)
    const paidAmount = paid ? paid.data.slice(2) : number(0)
    const extra = `${number(32)}${wordIn(swap.topics[1]!)}`
    const input: Hex = `${CALLED.swapV3}${wordIn(swap.topics[2]!)}${number(zeroForOne)}${paidAmount}${swap.data.slice(130, 194)}${number(160)}${extra}`
    const inside = call(host, pool, input, { output: `0x${amounts}` })
    if (bought) transfer(inside, bought, false)
    if (paid) balance(inside, paid.emitter.address, pool)
    const callback: Hex = `${CALLED.callbackV3}${amounts}${number(96)}${extra}`
    const payer = call(inside, selfOf(host), callback)
    if (paid) transfer(payer, paid, random.unit() < 0.5)
    if (paid) balance(inside, paid.emitter.address, pool)
  }

  const item721 = (host: Step, { emitter, topics }: Emission) => {
    const [, from, to, id] = topics
    const args = `${wordIn(from!)}${wordIn(to!)}${wordIn(id!)}`
    const safe = random.unit() < 0.6
    const inside = call(host, emitter.address, `${safe ? CALLED.safeTransfer721 : CALLED.transferFrom}${args}`)
    if (!safe || random.unit() < 0.6) return
    const input: Hex = `${CALLED.received721}${wordOf(selfOf(host))}${wordIn(from!)}${wordIn(id!)}${number(128)}${number(0)}`
    step(inside, 'call', `0x${to!.topic.slice(26)}`, input, `${CALLED.received721}${'0'.repeat(56)}`)
  }

  const approve = (host: Step, { emitter, topics, data }: Emission) => {
    const [, owner, spender] = topics
    const value = data.slice(2)
    if (random.unit() < 0.6) {
      return call(host, emitter.address, `${CALLED.approve}${wordIn(spender!)}${value}`, { output: TRUE })
    }
    abi.uint(1_700_000_000 + random.below(100_000_000))
    abi.uint(27 + random.below(2))
    abi.random(32)
    abi.random(32)
    return call(
      host,
      emitter.address,
      `${CALLED.permit}${wordIn(owner!)}${wordIn(spender!)}${value}${abi.take().slice(2)}`,
    )
  }

  const liquidity = (host: Step, selector: Hex, { emitter, topics }: Emission, before: Emission[]) => {
    for (const one of before.splice(0)) if (one.emitter !== emitter) transfer(host, one)
    const inside = call(host, emitter.address, `${selector}${wordIn(topics.at(-1)!)}`, {
      output: amount(people.weth),
    })
    balance(inside, people.weth.address, emitter.address)
    balance(inside, people.token().address, emitter.address)
  }

  const pay = (host: Step, to: Hex) => step(host, 'call', to, '0x', '0x', quantityOf(amount(people.weth)))

  /** What others log is the trace of a call, mostly with some of what that asks. */
  const other = (host: Step, { emitter }: Emission) => {
    const { input, output } = callOf(DEEDS)
    const inside = call(host, emitter.address, input, { output })
    while (random.unit() < 0.45) view(inside, people.emitter(random.skewed(100)).address)
    if (random.unit() < 0.35) pay(inside, people.account().address)
    const dice = random.unit()
    if (dice < 0.01) deploy(inside, people.account().address)
    else if (dice < 0.015)
      step(inside, 'suicide', people.account().address, '0x', '0x', quantityOf(amount(people.weth)))
  }

  const deploy = (host: Step, address: Hex) =>
    step(
      host,
      'create',
      address,
      `0x3d602d80600a3d3981f3${PROXY_HEAD}${selfOf(host).slice(2)}${PROXY_TAIL}`,
      proxyCode(selfOf(host)),
    )

  const proxyCode = (to: Hex): Hex => `0x${PROXY_HEAD}${to.slice(2)}${PROXY_TAIL}`

  /** Code with a dispatcher as compilers write it; most contracts are copies of a few. */
  const codeOf = (): Hex => {
    const kind = random.skewed(300)
    const functions = 6 + (kind % 24)
    let code = '608060405234801561001057600080fd5b506004361061004c5760003560e01c'
    for (let i = 0; i < functions; i++) {
      const known = [...DEEDS, ...VIEWS][(kind + i * 5) % (DEEDS.length + VIEWS.length)]!.selector
      const selector = i % 3 === 2 ? UNKNOWN_SELECTORS[(kind * 31 + i) % UNKNOWN_SELECTORS.length]! : known
      code += `8063${selector.slice(2)}1461${(0x60 + 9 * i).toString(16).padStart(4, '0')}57`
    }
    code += '600080fd'
    const body = `5b6040516020018091039${kind.toString(16).padStart(3, '0')}f35b60008054905060018201${'91'.repeat(3)}`
    return `0x${code}${body.repeat(20 + (kind % 150))}`
  }

  /** Goes through what was logged, in order, and makes the calls that log it. */
  const play = (host: Step, to: Party, emissions: readonly Emission[]) => {
    const before: Emission[] = []
    const flush = () => {
      for (const one of before.splice(0)) transfer(host, one)
    }
    for (const emission of emissions) {
      const { emitter, topics, data } = emission
      const kind = topics[0]!.topic
      // What the called contract logs itself is no step of its own.
      const isOwn = emitter === to
      if (kind === COMMON.transfer.topic && topics.length === 3) {
        if (!isOwn) before.push(emission)
        continue
      }
      if (kind === COMMON.sync.topic) continue
      if (kind === COMMON.swapV2.topic) swapV2(host, emission, before)
      else if (kind === COMMON.swapV3.topic) swapV3(host, emission, before)
      else if (kind === COMMON.mintV2.topic && topics.length === 2) liquidity(host, CALLED.mintV2, emission, before)
      else if (kind === COMMON.burnV2.topic) liquidity(host, CALLED.burnV2, emission, before)
      else {
        flush()
        if (kind === COMMON.withdrawal.topic) {
          const receiver = isOwn ? host.from : selfOf(host)
          const weth = isOwn ? host : call(host, emitter.address, `${CALLED.withdraw}${data.slice(2)}`)
          step(weth, 'call', receiver, '0x', '0x', quantityOf(data))
        } else if (kind === COMMON.orderFulfilled.topic) {
          pay(host, `0x${topics[1]!.topic.slice(26)}`)
          pay(host, people.emitter(1).address)
        } else if (isOwn) continue
        else if (kind === COMMON.deposit.topic) call(host, emitter.address, CALLED.deposit, { value: quantityOf(data) })
        else if (kind === COMMON.transfer.topic) item721(host, emission)
        else if (kind === COMMON.transferSingle.topic) {
          const args = `${wordIn(topics[2]!)}${wordIn(topics[3]!)}${data.slice(2)}${number(160)}${number(0)}`
          call(host, emitter.address, `${CALLED.safeTransfer1155}${args}`)
        } else if (kind === COMMON.approvalForAll.topic)
          call(host, emitter.address, `${CALLED.approveAll}${wordIn(topics[2]!)}${data.slice(2)}`)
        else if (kind === COMMON.approval.topic) approve(host, emission)
        else other(host, emission)
      }
      while (random.unit() < 0.4) view(host, emitter.address)
      if (random.unit() < 0.1) pay(host, people.account().address)
    }
    flush()
  }

  const treeOf = (deed: Deed): Step => {
    const { sender, to, value, input, failed, emissions, created } = deed
    const top: Step = {
      kind: to === null ? 'create' : 'call',
      from: sender.address,
      to: to?.address ?? created ?? '0x',
      value,
      input,
      output: '0x',
      error: undefined,
      steps: [],
    }
    if (to === null) {
      top.output = codeOf()
      if (!failed) while (random.unit() < 0.6) view(top, people.token().address)
      return top
    }
    if (input === '0x') {
      // A wallet that is a contract hands ether on.
      if (deed.gas > 0 && random.unit() < 0.1) step(top, 'call', people.account().address, '0x', '0x', value)
      return top
    }
    if (emissions.some(({ emitter }) => emitter === to) && random.unit() < 0.9) top.output = TRUE
    let host = passedOn(top)
    if (emissions.length === 0) {
      if (random.unit() < 0.75) while (random.unit() < 0.72) view(host, people.emitter(random.skewed(100)).address)
    } else if (emissions.some(({ emitter }) => emitter !== to)) {
      if (random.unit() < 0.25) {
        const { input, output } = unknownCall()
        host = call(host, people.emitter(random.skewed(100)).address, input, { output })
      }
      const most = failed ? 1 + random.below(emissions.length) : emissions.length
      play(host, to, emissions.slice(0, most))
      // Some look at many prices before they trade.
      if (random.unit() < 0.03)
        for (let i = 20 + random.below(50); i > 0; i--) view(host, people.token().pairV2.address)
    } else play(host, to, emissions)
    return top
  }

  /** A failure goes from the last step up to the top. */
  const failAll = (top: Step) => {
    const [error, output]: [string, Hex] = random.unit() < 0.75 ? [REVERTED, REASON] : [OUT_OF_GAS, '0x']
    for (let at: Step | undefined = top; at !== undefined; at = at.steps.at(-1)) {
      if (at.kind === 'suicide') return
      fail(at, error, output)
      if (random.unit() < 0.4) return
    }
  }

  return {
    at: (block: number) => people.at(block),
    /** The traces of a transaction, the outer before the inner. */
    traces(deed: Deed): RpcTrace[] {
      const { block, hash, index, gas, gasUsed, failed } = deed
      random.seek(root, TRACES, block.number, index)
      const top = treeOf(deed)
      if (failed) failAll(top)
      const traces: RpcTrace[] = []
      const add = (it: Step, traceAddress: number[], gas: number, gasUsed: number) => {
        const { kind, from, to, value, input, output, error, steps } = it
        const place = {
          blockHash: block.hash,
          blockNumber: block.number,
          subtraces: steps.length,
          traceAddress,
          transactionHash: hash,
          transactionPosition: index,
        }
        const fault = error === undefined ? {} : { error }
        const isKept = error === undefined || error === REVERTED
        const limits = { gas: quantity(gas) }
        const used = quantity(gasUsed)
        if (kind === 'suicide') {
          const action = { address: from, refundAddress: to, balance: value }
          traces.push({ action, ...place, result: null, type: 'suicide' })
        } else if (kind === 'create') {
          const action = {
            creationMethod: traceAddress.length ? 'create2' : 'create',
            from,
            ...limits,
            init: input,
            value,
          }
          const address = error === undefined ? { address: to } : {}
          const result = isKept ? { ...address, code: output, gasUsed: used } : null
          traces.push({ action, ...fault, ...place, result, type: 'create' })
        } else {
          const action = { callType: kind, from, ...limits, input, to, value }
          traces.push({ action, ...fault, ...place, result: isKept ? { gasUsed: used, output } : null, type: 'call' })
        }
        const share = (gasUsed * 0.85) / sizeOf(it)
        for (const [i, below] of steps.entries()) {
          const isPlain = below.input === '0x'
          const most = isPlain ? 2300 : Math.floor((gas - gasUsed * 0.1) * (63 / 64))
          add(below, [...traceAddress, i], most, isPlain ? 0 : Math.floor(share * sizeOf(below)))
        }
      }
      add(top, [], gas, gasUsed)
      return traces
    },
  }
}

/** The address whose storage the code of a step works on. */
const selfOf = ({ kind, from, to }: Step): Hex => (kind === 'delegatecall' ? from : to)

const isProxy = (address: Hex): boolean => Number.parseInt(address.slice(-2), 16) < 52
const implementationOf = (address: Hex): Hex => `0x${address.slice(22)}${address.slice(2, 22)}`

const fail = (it: Step, error: string, output: Hex) => {
  it.error = error
  it.output = output
}

const sizeOf = ({ steps }: Step): number => steps.reduce((sum, it) => sum + sizeOf(it), 1)

const wordIn = (topic: Topic): string => topic.topic.slice(2)
const wordOf = (address: Hex): string => `${PADDING}${address.slice(2)}`
const number = (value: number): string => value.toString(16).padStart(64, '0')
const quantityOf = (word: Hex): Hex => `0x${word.slice(2, 66).replace(/^0+(?=.)/, '')}`

const PADDING = '0'.repeat(24)
const TETHER: Hex = '0xdac17f958d2ee523a2206206994597c13d831ec7'
const TRUE: Hex = `0x${number(1)}`
const REVERTED = 'Reverted'
const OUT_OF_GAS = 'Out of gas'
const REASON: Hex = `${CALLED.error}${number(32)}${number(19)}${Buffer.from('INSUFFICIENT_OUTPUT').toString('hex').padEnd(64, '0')}`
/** ERC-1167. */
const PROXY_HEAD = '363d3d373d3d3d363d73'
const PROXY_TAIL = '5af43d82803e903d91602b57fd5bf3'
