import { type Address, encodeFunctionData, keccak256, maxUint256, parseEther, toHex } from 'viem'
import type { Actor, Chain, Deployed } from './chain.ts'
import type { Stage } from './stage.ts'

/** One transaction of the everyday kind. */
export const act = async (chain: Chain, stage: Stage): Promise<void> => {
  const { random, actors } = chain
  const { alice, bob, carol, dave, erin, frank, grace, heidi, ivan, judy, mallory } = actors
  const paused = chain.height >= 150 && chain.height <= 154
  const trader = actors[random.weighted({ alice: 5, bob: 2, erin: 6, dave: 1, ivan: 1, judy: 1 })]
  const deadline = BigInt(chain.time + 300)
  const kind = random.weighted({
    token: paused ? 0 : 34,
    ether: 12,
    swap: paused ? 0 : 20,
    wrap: 6,
    liquidity: paused ? 0 : 2,
    bird: 6,
    item: 3,
    saving: paused ? 0 : 3,
    approve: 4,
    fail: 4,
    wallet: 4,
    harbor: 3,
    burn: paused ? 0 : 1,
    fickle: 1,
    memo: 1,
  })
  switch (kind) {
    case 'token': {
      const from =
        actors[random.weighted({ alice: 8, bob: 4, carol: 4, dave: 2, erin: 2, frank: 2, heidi: 2, judy: 2 })]
      const token = stage[random.weighted({ dollar: 12, bitcoin: 3, govern: 4, weth: 3, points: 3 })]
      const balance = await chain.read<bigint>(token, 'balanceOf', [from.address])
      const amount = random.part(balance, 0.0001, 0.05)
      return chain.call(from, token, 'transfer', [receiver(chain, from), amount], { gas: 80_000n })
    }
    case 'ether': {
      const from = actors[random.weighted({ alice: 6, bob: 4, carol: 2, erin: 1, frank: 1, ivan: 1, judy: 2 })]
      const value = random.chance(0.05) ? 0n : random.part(parseEther('20'), 0.0001, 0.2)
      return chain.send(from, { to: random.chance(0.05) ? from.address : receiver(chain, from), value, gas: 30_000n })
    }
    case 'swap':
      return swap(chain, stage, trader, deadline)
    case 'wrap': {
      const balance = await chain.read<bigint>(stage.weth, 'balanceOf', [trader.address])
      if (balance > 0n && random.chance(0.5)) {
        return chain.call(trader, stage.weth, 'withdraw', [random.part(balance, 0.01, 0.1)], { gas: 80_000n })
      }
      const value = random.part(parseEther('10'), 0.01, 0.5)
      // By plain transfer or by name.
      if (random.chance(0.3)) return chain.send(trader, { to: stage.weth.address, value, gas: 80_000n })
      return chain.call(trader, stage.weth, 'deposit', [], { value, gas: 80_000n })
    }
    case 'liquidity': {
      const actor = random.pick([dave, erin])
      const liquidity = await chain.read<bigint>(stage.dollarPair, 'balanceOf', [actor.address])
      if (liquidity > 0n && random.chance(0.4)) {
        return removeLiquidity(chain, stage, actor, random.part(liquidity, 0.02, 0.1))
      }
      return addLiquidity(chain, stage, actor, random.part(parseEther('10'), 0.05, 0.5))
    }
    case 'bird': {
      const actor = actors[random.weighted({ frank: 5, alice: 2, erin: 1, heidi: 1 })]
      const minted = await chain.read<bigint>(stage.birds, 'minted')
      if (chain.height < 256 && minted < 40n && random.chance(0.4)) return mintBirds(chain, stage, actor, 1n, false)
      if (minted === 0n) return
      const id = BigInt(random.int(1, Number(minted)))
      const owner = await chain.read<Address>(stage.birds, 'ownerOf', [id])
      const holder = Object.values(actors).find(({ address }) => address === owner)
      // One move of a bird a block: a second would not be its owner's any more.
      if (holder === undefined || lastMove.get(id) === chain.height) return
      if (random.chance(0.15)) {
        return chain.call(holder, stage.birds, 'approve', [random.pick([alice, bob]).address, id], { gas: 90_000n })
      }
      if (random.chance(0.08)) {
        return chain.call(holder, stage.birds, 'setApprovalForAll', [bob.address, random.chance(0.7)], { gas: 90_000n })
      }
      lastMove.set(id, chain.height)
      const to = actors[random.weighted({ frank: 3, alice: 1, judy: 1, erin: 1, bob: 1 })].address
      return chain.call(holder, stage.birds, 'safeTransferFrom', [owner, to, id])
    }
    case 'item': {
      const id = BigInt(random.int(1, 5))
      if (random.chance(0.5)) {
        const args = [random.pick([frank, alice, judy]).address, id, BigInt(random.int(1, 20))]
        return chain.call(actors.deployer, stage.items, 'mint', args)
      }
      const balance = await chain.read<bigint>(stage.items, 'balanceOf', [frank.address, id])
      if (balance < 10n) return
      return chain.call(frank, stage.items, 'safeTransferFrom', [frank.address, receiver(chain, frank), id, 1n, '0x'])
    }
    case 'saving': {
      const saver = random.pick([heidi, judy, dave])
      const shares = await chain.read<bigint>(stage.savings, 'balanceOf', [saver.address])
      if (shares > 0n && random.chance(0.4)) {
        const args = [random.part(shares, 0.1, 0.4), saver.address, saver.address]
        return chain.call(saver, stage.savings, 'redeem', args)
      }
      const assets = random.part(10_000_000_000n, 0.01, 0.5)
      return chain.call(saver, stage.savings, 'deposit', [assets, saver.address], { gas: 200_000n })
    }
    case 'approve': {
      const token = stage[random.weighted({ dollar: 4, weth: 2, points: 1 })]
      const amount = random.pick([maxUint256, 1_000_000n, 25_000_000_000n, 0n])
      return chain.call(random.pick([frank, heidi, judy]), token, 'approve', [receiver(chain, judy), amount])
    }
    case 'fail':
      return fail(chain, stage, carol)
    case 'wallet':
      return useWallet(chain, stage, grace)
    case 'harbor':
      return useHarbor(chain, stage, mallory)
    case 'burn': {
      const amount = BigInt(random.int(1, 50)) * 1_000_000n
      return chain.call(random.pick([alice, judy]), stage.dollar, 'burn', [amount])
    }
    case 'fickle':
      return chain.call(bob, stage.fickle, 'attempt', [BigInt(random.int(1, 9))], { gas: 200_000n })
    case 'memo': {
      const text = random.pick(['thanks for lunch', 'Rechnung 2025-17: Grüße', 'gm ☀️'])
      return chain.send(ivan, { to: bob.address, data: toHex(text), value: 1n, gas: 60_000n })
    }
  }
}

/** The block in which a bird last moved. */
const lastMove = new Map<bigint, number>()

const swap = (chain: Chain, stage: Stage, trader: Actor, deadline: bigint) => {
  const { random } = chain
  const { dollar, bitcoin, govern, weth, router } = stage
  const request = { gas: 350_000n }
  const to = trader.address
  const path = (...tokens: Deployed[]) => tokens.map(({ address }) => address)
  const dollars = () => random.part(20_000_000_000n, 0.005, 0.5)
  switch (random.weighted({ buy: 6, sell: 5, bitcoin: 3, govern: 2, ungovern: 2 })) {
    case 'buy':
      return chain.call(trader, router, 'swapExactETHForTokens', [0n, path(weth, dollar), to, deadline], {
        ...request,
        value: random.part(parseEther('5'), 0.005, 0.8),
      })
    case 'sell':
      return chain.call(
        trader,
        router,
        'swapExactTokensForETH',
        [dollars(), 0n, path(dollar, weth), to, deadline],
        request,
      )
    case 'bitcoin': {
      const args = [dollars(), 0n, path(dollar, weth, bitcoin), to, deadline]
      return chain.call(trader, router, 'swapExactTokensForTokens', args, request)
    }
    case 'govern': {
      const args = [dollars(), 0n, path(dollar, govern), to, deadline]
      return chain.call(trader, router, 'swapExactTokensForTokens', args, request)
    }
    case 'ungovern': {
      const args = [random.part(parseEther('2000'), 0.005, 0.5), 0n, path(govern, dollar), to, deadline]
      return chain.call(trader, router, 'swapExactTokensForTokens', args, request)
    }
  }
}

export const addLiquidity = (chain: Chain, { router, dollar }: Stage, actor: Actor, value: bigint) =>
  chain.call(
    actor,
    router,
    'addLiquidityETH',
    // Dollars for ether at 4,000 at most; the router takes what fits and gives the rest of the ether back.
    [dollar.address, (value * 4000n) / 10n ** 12n, 0n, 0n, actor.address, BigInt(chain.time + 300)],
    { value, gas: 400_000n },
  )

export const removeLiquidity = (chain: Chain, { router, dollar }: Stage, actor: Actor, liquidity: bigint) =>
  chain.call(
    actor,
    router,
    'removeLiquidityETH',
    [dollar.address, liquidity, 0n, 0n, actor.address, BigInt(chain.time + 300)],
    { gas: 400_000n },
  )

export const mintBirds = (chain: Chain, { birds }: Stage, actor: Actor, count: bigint, fails: boolean) =>
  chain.call(actor, birds, 'mint', [count], { value: (count * parseEther('1')) / 20n, gas: 300_000n, fails })

/** Every way of failing: custom errors, strings, a panic, out of gas, an invalid instruction, a refused transfer. */
const fail = (chain: Chain, stage: Stage, carol: Actor) => {
  const { random } = chain
  const to = receiver(chain, carol)
  const path = [stage.dollar.address, stage.weth.address]
  const request = { gas: 200_000n, fails: true }
  switch (random.int(0, 9)) {
    case 0:
      return chain.call(carol, stage.points, 'transfer', [to, 10n ** 9n], request)
    case 1: {
      const args = [1_000_000n, 0n, path, carol.address, BigInt(chain.time - 60)]
      return chain.call(carol, stage.router, 'swapExactTokensForETH', args, request)
    }
    case 2: {
      const args = [1_000_000n, parseEther('100'), path, carol.address, BigInt(chain.time + 60)]
      return chain.call(carol, stage.router, 'swapExactTokensForETH', args, request)
    }
    case 3:
      return chain.call(carol, stage.birds, 'mint', [1n], { ...request, value: 1n })
    case 4:
      return chain.call(carol, stage.fickle, 'refuse', ['not on my watch'], request)
    case 5:
      return chain.call(carol, stage.fickle, 'panic', [7n], request)
    case 6:
      return chain.call(carol, stage.fickle, 'burnGas', [], request)
    case 7:
      return chain.call(carol, stage.fickle, 'invalid', [], { ...request, gas: 60_000n })
    case 8:
      return chain.call(carol, stage.dollar, 'mint', [carol.address, 10n ** 12n], request)
    default:
      return chain.send(carol, { ...request, to: stage.router.address, value: parseEther('0.1') })
  }
}

/** Grace acts through her clone, or while her own address has the wallet's code, through that. */
const useWallet = (chain: Chain, stage: Stage, grace: Actor) => {
  const { random } = chain
  const { graceWallet, dollar, points } = stage
  const delegated = chain.height > 90 && chain.height < 320
  if (delegated && random.chance(0.4)) {
    const transfer = (amount: bigint) => ({
      to: points.address,
      value: 0n,
      data: encodeFunctionData({ ...points, functionName: 'transfer', args: [receiver(chain, grace), amount] }),
    })
    const calls = [transfer(1n), transfer(2n), { to: receiver(chain, grace), value: 1000n, data: '0x' }]
    return chain.call(grace, { ...graceWallet, address: grace.address }, 'executeBatch', [calls], { gas: 250_000n })
  }
  if (random.chance(0.4)) {
    return chain.send(random.pick([grace, chain.actors.alice]), {
      to: graceWallet.address,
      value: random.part(parseEther('1'), 0.01, 0.5),
      gas: 60_000n,
    })
  }
  const data = encodeFunctionData({ ...dollar, functionName: 'approve', args: [receiver(chain, grace), 1_000_000n] })
  const [to, value, input] = random.chance(0.5)
    ? [dollar.address, 0n, data]
    : [receiver(chain, grace), parseEther('0.01'), '0x']
  return chain.call(grace, graceWallet, 'execute', [to, value, input])
}

const useHarbor = (chain: Chain, { harbor, dollar, weth }: Stage, mallory: Actor) => {
  const { random } = chain
  const ship = random.pick(['Ever Forward', 'Ährenkranz', '日本丸', "Robert'); DROP TABLE ships;--", 'Queen "Mary" II'])
  const request = { gas: 400_000n }
  switch (random.int(0, 5)) {
    case 0:
      return chain.call(mallory, harbor, 'arrive', [ship, BigInt(random.int(-100, 100))], request)
    case 1: {
      const crates = Array.from({ length: random.int(0, 3) }, (_, i) => ({
        token: i % 2 === 0 ? dollar.address : weth.address,
        amount: BigInt(random.int(1, 1_000_000)),
        label: `crate ${i + 1} of ${ship}`,
      }))
      const legs = Array.from({ length: random.int(1, 3) }, () => ({
        eta: BigInt(chain.time + random.int(1000, 90_000)),
        heading: random.int(-180, 180),
      }))
      const route = { start: 'Hamburg', end: random.pick(['Shanghai', 'Valparaíso', '']), legs }
      const weights = crates.map(() => BigInt(random.int(1, 30_000)))
      return chain.call(mallory, harbor, 'land', [BigInt(chain.height), crates, route, weights], request)
    }
    case 2: {
      const soundings = [[random.int(-128, 127), random.int(-128, 127)], [], [random.int(-128, 127)]]
      const crew = [mallory.address, chain.actors.bob.address].slice(0, random.int(0, 2))
      return chain.call(
        mallory,
        harbor,
        'log',
        [toHex(`calm sea at ${chain.height}`), [1, 2, 255], crew, soundings],
        request,
      )
    }
    case 3: {
      const berths = Array.from({ length: random.int(1, 4) }, () => BigInt(random.int(1, 40)))
      return chain.call(mallory, harbor, 'assign', [berths, { eta: BigInt(chain.time + 3600), heading: -45 }], request)
    }
    case 4:
      return chain.call(mallory, harbor, 'sound', [BigInt(random.int(1, 10)), 'fog'], request)
    default:
      return chain.call(mallory, harbor, 'whisper', [toHex(`psst ${random.int(1, 999)}`)], request)
  }
}

/** Someone else: mostly one of the actors, alice more often than others, now and then a stranger. */
const receiver = ({ random, actors }: Chain, from: Actor): Address => {
  if (random.chance(0.25)) return stranger(random.int(0, 39))
  const to =
    actors[random.weighted({ alice: 8, bob: 4, carol: 2, dave: 1, erin: 2, frank: 2, heidi: 2, ivan: 1, judy: 4 })]
  return to === from ? actors.deployer.address : to.address
}

/** An address that nobody has the key of. */
export const stranger = (i: number): Address => addressOf(`stranger ${i}`)
const addressOf = (text: string) => `0x${keccak256(toHex(text)).slice(26)}` as const
/** Where blobs are sent to. */
export const inbox = addressOf('inbox')
