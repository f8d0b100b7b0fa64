import type { Hex } from '../../src/chain/wire.ts'
import type { Random } from '../lib/random.ts'
import type { Abi } from './abi.ts'
import { COMMON, KNOWN_OTHERS, type MadeEvent, OTHER, type Topic } from './events.ts'
import type { Party, Population, Token } from './population.ts'

export interface Act {
  sender: Party
  to: Party | null
  pays: boolean
  input: Hex
  gasUsed: number
  emit(emitter: Party, topics: Topic[], data: Hex): void
}

export interface Stage {
  random: Random
  abi: Abi
  people: Population
}

export interface Action {
  name: string
  weight: number
  run(act: Act, stage: Stage): void
}

/** For transactions without a log in half of all, the rest about four each: 85 % of the logs are of the thirteen common events. */
export const ACTIONS: readonly Action[] = [
  {
    name: 'ether transfer',
    weight: 35,
    run(act, { people }) {
      act.to = people.account()
      act.pays = true
      act.gasUsed = 21_000
    },
  },
  {
    name: 'call without logs',
    weight: 13.7,
    run(act, stage) {
      act.to = stage.people.emitter(stage.random.skewed(2000))
      act.gasUsed = 30_000 + stage.random.below(90_000)
      act.input = callOf(stage, stage.random.below(6))
    },
  },
  {
    name: 'creation',
    weight: 0.3,
    run(act, stage) {
      act.to = null
      act.gasUsed = 600_000 + stage.random.below(2_000_000)
      act.input = codeOf(stage, 1500 + stage.random.below(9000))
    },
  },
  {
    name: 'token transfer',
    weight: 9.5,
    run(act, { abi, people }) {
      const token = people.token()
      const to = people.account()
      act.to = token
      act.gasUsed = 46_000
      abi.selector(0xa9059cbb)
      abi.address(to)
      abi.amount(token)
      act.input = abi.take()
      act.emit(token, [COMMON.transfer, act.sender, to], `0x${act.input.slice(74)}`)
    },
  },
  {
    name: 'payout to many',
    weight: 4.6,
    run(act, stage) {
      const { random, abi, people } = stage
      const token = people.token()
      const count = 2 + random.below(11)
      act.to = people.emitter(random.skewed(50))
      act.gasUsed = 30_000 + count * 32_000
      act.input = callOf(stage, 4 + 2 * count)
      for (let i = 0; i < count; i++) {
        abi.amount(token)
        act.emit(token, [COMMON.transfer, act.sender, people.account()], abi.take())
      }
    },
  },
  {
    name: 'approval',
    weight: 7.9,
    run(act, stage) {
      const { random, abi, people } = stage
      const token = people.token()
      const spender = random.unit() < 0.8 ? people.routers[random.skewed(people.routers.length)]! : people.account()
      act.to = token
      act.gasUsed = 46_500
      abi.selector(0x095ea7b3)
      abi.address(spender)
      if (random.unit() < 0.6) abi.max()
      else abi.amount(token)
      act.input = abi.take()
      act.emit(token, [COMMON.approval, act.sender, spender], `0x${act.input.slice(74)}`)
    },
  },
  {
    name: 'swap, Uniswap v2',
    weight: 8,
    run(act, stage) {
      const { random, people } = stage
      const router = people.routers[random.skewed(4)]!
      act.to = router
      act.gasUsed = 120_000 + random.below(60_000)
      act.input = callOf(stage, 6 + random.below(20))
      const buys = random.unit() < 0.5
      if (random.unit() < 0.4) permit(act, stage, router)
      if (buys && random.unit() < 0.5) wrap(act, stage, router)
      const token = people.token()
      swapV2(act, stage, token, buys, act.sender, router)
      if (random.unit() < 0.25) swapV2(act, stage, people.token(), !buys, act.sender, router)
      if (!buys && random.unit() < 0.5) unwrap(act, stage, router)
    },
  },
  {
    name: 'swap, Uniswap v3',
    weight: 4.1,
    run(act, stage) {
      const { random, people } = stage
      const router = people.routers[1 + random.skewed(5)]!
      act.to = router
      act.gasUsed = 130_000 + random.below(80_000)
      act.input = callOf(stage, 8 + random.below(20))
      const buys = random.unit() < 0.5
      if (random.unit() < 0.4) permit(act, stage, router)
      if (buys && random.unit() < 0.5) wrap(act, stage, router)
      swapV3(act, stage, people.token(), buys, act.sender, router)
      if (random.unit() < 0.25) swapV3(act, stage, people.token(), !buys, act.sender, router)
      if (!buys && random.unit() < 0.5) unwrap(act, stage, router)
    },
  },
  {
    name: 'swap through an aggregator',
    weight: 2.2,
    run(act, stage) {
      const { random, people } = stage
      const router = people.routers[3]!
      act.to = router
      act.gasUsed = 280_000 + random.below(200_000)
      act.input = callOf(stage, 20 + random.below(60))
      const token = people.token()
      transfer(act, stage, token, act.sender, router)
      swapV2(act, stage, token, false, router, router)
      swapV3(act, stage, people.token(), true, router, router)
      transfer(act, stage, people.token(), router, act.sender)
      other(act, stage)
    },
  },
  {
    name: 'liquidity of Uniswap v2',
    weight: 1,
    run(act, stage) {
      const { random, abi, people } = stage
      const token = people.token()
      const pair = token.pairV2
      const router = people.routers[0]!
      act.to = router
      act.gasUsed = 190_000 + random.below(60_000)
      act.input = callOf(stage, 8)
      const adds = random.unit() < 0.5
      if (adds) {
        transfer(act, stage, token, act.sender, pair)
        transfer(act, stage, people.weth, router, pair)
        abi.scaled(38, 3)
        act.emit(pair, [COMMON.transfer, people.zero, act.sender], abi.take())
      } else {
        abi.scaled(38, 3)
        act.emit(pair, [COMMON.transfer, act.sender, pair], abi.take())
        transfer(act, stage, token, pair, act.sender)
        transfer(act, stage, people.weth, pair, router)
      }
      sync(act, stage, token)
      abi.amount(token)
      abi.amount(people.weth)
      if (adds) act.emit(pair, [COMMON.mintV2, router], abi.take())
      else act.emit(pair, [COMMON.burnV2, router, act.sender], abi.take())
    },
  },
  {
    name: 'wrapping of ether',
    weight: 2,
    run(act, stage) {
      const { random, abi, people } = stage
      act.to = people.weth
      act.gasUsed = 29_000
      if (random.unit() < 0.5) {
        act.pays = true
        abi.selector(0xd0e30db0)
        act.input = abi.take()
        wrap(act, stage, act.sender)
      } else {
        abi.selector(0x2e1a7d4d)
        abi.amount(people.weth)
        act.input = abi.take()
        unwrap(act, stage, act.sender)
      }
    },
  },
  {
    name: 'sale of an NFT',
    weight: 1.1,
    run(act, stage) {
      const { random, people } = stage
      const seller = people.account()
      const collection = people.collection()
      act.to = people.seaport
      act.pays = true
      act.gasUsed = 150_000 + random.below(80_000)
      act.input = callOf(stage, 30 + random.below(20))
      const id = random.skewed(10_000)
      order(act, stage, collection, id, seller)
      if (random.unit() < 0.3) permit(act, stage, people.seaport)
      if (random.unit() < 0.2) item1155(act, stage, collection, seller, act.sender)
      else item721(act, stage, collection, seller, act.sender, id)
      if (random.unit() < 0.4) transfer(act, stage, people.weth, act.sender, seller)
    },
  },
  {
    name: 'NFT moved or minted',
    weight: 1.5,
    run(act, stage) {
      const { random, people } = stage
      const collection = people.collection()
      act.to = collection
      const count = random.unit() < 0.6 ? 1 : 1 + random.below(5)
      act.gasUsed = 60_000 + 30_000 * count
      act.input = callOf(stage, 2 + random.below(4))
      const minted = random.unit() < 0.5
      const from = minted ? people.zero : act.sender
      const to = minted ? act.sender : people.account()
      for (let i = 0; i < count; i++) item721(act, stage, collection, from, to, random.below(10_000))
    },
  },
  {
    name: 'token of ERC-1155 moved',
    weight: 1.1,
    run(act, stage) {
      const collection = stage.people.collection()
      act.to = collection
      act.gasUsed = 70_000
      act.input = callOf(stage, 5)
      item1155(act, stage, collection, act.sender, stage.people.account())
    },
  },
  {
    name: 'approval of a collection',
    weight: 0.6,
    run(act, stage) {
      const { abi, people } = stage
      const collection = people.collection()
      act.to = collection
      act.gasUsed = 46_000
      abi.selector(0xa22cb465)
      abi.address(people.seaport)
      abi.uint(1)
      act.input = abi.take()
      act.emit(collection, [COMMON.approvalForAll, act.sender, people.seaport], `0x${act.input.slice(74)}`)
    },
  },
  {
    name: 'other contracts',
    weight: 8,
    run(act, stage) {
      const { random, people } = stage
      act.to = people.emitter(random.skewed(OTHER.length))
      act.gasUsed = 80_000 + random.below(250_000)
      act.input = callOf(stage, 1 + random.skewed(40))
      const transfers = random.below(7)
      for (let i = 0; i < transfers; i++) transfer(act, stage, people.token(), act.sender, people.account())
      if (transfers < 6 && random.unit() < 0.3) permit(act, stage, act.to)
      const events = 1 + random.below(6)
      for (let i = 0; i < events; i++) other(act, stage)
    },
  },
]

export const pickAction = (random: Random): Action => {
  let dice = random.unit() * TOTAL
  for (const action of ACTIONS) {
    dice -= action.weight
    if (dice < 0) return action
  }
  return ACTIONS[0]!
}

const TOTAL = ACTIONS.reduce((sum, action) => sum + action.weight, 0)

const transfer = (act: Act, { abi }: Stage, token: Token, from: Party, to: Party) => {
  abi.amount(token)
  act.emit(token, [COMMON.transfer, from, to], abi.take())
}

const permit = (act: Act, { random, abi, people }: Stage, spender: Party) => {
  const token = people.token()
  if (random.unit() < 0.3) abi.max()
  else abi.amount(token)
  act.emit(token, [COMMON.approval, act.sender, spender], abi.take())
}

const wrap = (act: Act, { abi, people }: Stage, owner: Party) => {
  abi.amount(people.weth)
  act.emit(people.weth, [COMMON.deposit, owner], abi.take())
}

const unwrap = (act: Act, { abi, people }: Stage, owner: Party) => {
  abi.amount(people.weth)
  act.emit(people.weth, [COMMON.withdrawal, owner], abi.take())
}

const sync = (act: Act, { abi, people }: Stage, token: Token) => {
  abi.scaled(token.size + 9 + token.decimals * Math.LN10, 2)
  abi.scaled(44 + people.weth.size, 2)
  act.emit(token.pairV2, [COMMON.sync], abi.take())
}

const swapV2 = (act: Act, stage: Stage, token: Token, buys: boolean, trader: Party, router: Party) => {
  const { abi, people } = stage
  const pair = token.pairV2
  if (buys) transfer(act, stage, people.weth, router, pair)
  else transfer(act, stage, token, trader, pair)
  if (buys) transfer(act, stage, token, pair, trader)
  else transfer(act, stage, people.weth, pair, router)
  sync(act, stage, token)
  if (buys) {
    abi.uint(0)
    abi.amount(people.weth)
    abi.amount(token)
    abi.uint(0)
  } else {
    abi.amount(token)
    abi.uint(0)
    abi.uint(0)
    abi.amount(people.weth)
  }
  act.emit(pair, [COMMON.swapV2, router, buys ? trader : router], abi.take())
}

const swapV3 = (act: Act, stage: Stage, token: Token, buys: boolean, trader: Party, router: Party) => {
  const { random, abi, people } = stage
  const pool = token.poolV3
  if (buys) transfer(act, stage, token, pool, trader)
  else transfer(act, stage, people.weth, pool, router)
  if (buys) transfer(act, stage, people.weth, router, pool)
  else transfer(act, stage, token, trader, pool)
  if (buys) {
    abi.negativeAmount(token)
    abi.amount(people.weth)
  } else {
    abi.amount(token)
    abi.negativeAmount(people.weth)
  }
  abi.random(11 + random.below(6))
  abi.scaled(48, 3)
  abi.int(random.below(400_000) - 200_000)
  act.emit(pool, [COMMON.swapV3, router, trader], abi.take())
}

const item721 = (act: Act, { abi }: Stage, collection: Party, from: Party, to: Party, id: number) => {
  abi.uint(id)
  act.emit(collection, [COMMON.transfer, from, to, abi.topic()], '0x')
}

const item1155 = (act: Act, { random, abi }: Stage, collection: Party, from: Party, to: Party) => {
  if (random.unit() < 0.5) abi.uint(random.skewed(1000))
  else abi.random(32)
  abi.uint(1 + random.skewed(20))
  act.emit(collection, [COMMON.transferSingle, act.sender, from, to], abi.take())
}

const order = (act: Act, { random, abi, people }: Stage, collection: Party, id: number, seller: Party) => {
  const shares = [seller, people.emitter(1), people.emitter(2)].slice(0, 2 + random.below(2))
  abi.random(32)
  abi.address(act.sender)
  abi.uint(4 * 32)
  abi.uint((4 + 1 + 4) * 32)
  abi.uint(1)
  abi.uint(2)
  abi.address(collection)
  abi.uint(id)
  abi.uint(1)
  abi.uint(shares.length)
  for (const share of shares) {
    abi.uint(0)
    abi.address(people.zero)
    abi.uint(0)
    abi.amount(people.weth)
    abi.address(share)
  }
  act.emit(people.seaport, [COMMON.orderFulfilled, seller, people.zero], abi.take())
}

/** Sixty of a hundred go to events that registries know. */
const other = (act: Act, { random, abi, people }: Stage) => {
  const index =
    random.unit() < 0.6 ? random.skewed(KNOWN_OTHERS) : KNOWN_OTHERS + random.skewed(OTHER.length - KNOWN_OTHERS)
  const event: MadeEvent = OTHER[index]!
  const topics: Topic[] = [event]
  for (const type of event.indexed) {
    if (type === 'address') topics.push(random.unit() < 0.5 ? act.sender : people.account())
    else {
      abi.value(type, people.account)
      topics.push(abi.topic())
    }
  }
  for (const type of event.data) abi.value(type, people.account)
  act.emit(people.emitter(index), topics, abi.take())
}

/** Call data of so many words, most of them small numbers and addresses; one in thirty carries some kilobytes of dense bytes. */
const callOf = ({ random, abi, people }: Stage, words: number): Hex => {
  const kind = random.skewed(3000)
  abi.selector(SELECTORS[kind]!)
  for (let i = 0; i < words; i++) {
    const dice = random.unit()
    if (dice < 0.3) abi.address(dice < 0.15 ? people.token() : people.account())
    else if (dice < 0.65) abi.uint(random.skewed(1024))
    else if (dice < 0.95) abi.scaled(41, 5)
    else abi.random(32)
  }
  if (random.unit() < 0.033) {
    const dense = 64 + random.below(200)
    for (let i = 0; i < dense; i++) abi.random(32)
  }
  return abi.take()
}

const codeOf = ({ random, abi }: Stage, size: number): Hex => {
  abi.selector(0x60806040)
  for (let i = 0; i < size / 32; i++) abi.random(random.unit() < 0.2 ? 20 : 32)
  return abi.take()
}

const SELECTORS = Array.from({ length: 3000 }, (_, i) => Math.imul(i + 1, 0x9e3779b1) >>> 0)
