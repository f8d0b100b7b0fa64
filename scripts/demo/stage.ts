import {
  type Address,
  concatHex,
  encodeFunctionData,
  getContractAddress,
  type Hex,
  keccak256,
  maxUint256,
  padHex,
  parseEther,
  toHex,
} from 'viem'
import { addLiquidity } from './acts.ts'
import type { Chain, Deployed } from './chain.ts'

/** Everything the story plays with, by role. */
export interface Stage {
  dollar: Deployed
  bitcoin: Deployed
  govern: Deployed
  points: Deployed
  relic: Deployed
  weth: Deployed
  savings: Deployed
  factory: Deployed
  router: Deployed
  dollarPair: Deployed
  bitcoinPair: Deployed
  governPair: Deployed
  birds: Deployed
  items: Deployed
  wallets: Deployed
  walletCode: Deployed
  graceWallet: Deployed
  airdrop: Deployed
  fickle: Deployed
  harborCode: Deployed
  /** Speaks through a proxy, which is the address that its logs come from. */
  harbor: Deployed
  proxyAdmin: Deployed
  /** Those that come later in the story. */
  later: Deployed[]
}

/** Deploys the contracts, gives everyone some of everything, and opens the markets. */
export const build = async (chain: Chain): Promise<Stage> => {
  const stage = await deploy(chain)
  await fund(chain, stage)
  await open(chain, stage)
  return stage
}

const deploy = async (chain: Chain): Promise<Stage> => {
  const { deployer, mallory, grace } = chain.actors
  const token = (as: string, args: unknown[]) => chain.deploy(deployer, 'Token', args, { as })
  const next = async <T>(deployed: T): Promise<T> => {
    await chain.mine()
    return deployed
  }
  const dollar = await next(await token('Demo Dollar', ['Demo Dollar', 'DUSD', 6]))
  const bitcoin = await next(await token('Demo Bitcoin', ['Demo Bitcoin', 'DBTC', 8]))
  const govern = await token('Demo Governance', ['Demo Governance', 'DGOV', 18])
  const points = await next(await token('Demo Points', ['Demo Points', 'DPTS', 0]))
  const relic = await chain.deploy(deployer, 'Relic', [])
  const weth = await next(await chain.deploy(deployer, 'Weth', [], { as: 'Wrapped Ether' }))
  const factory = await next(await chain.deploy(deployer, 'UniswapV2Factory', [deployer.address]))
  const router = await next(await chain.deploy(deployer, 'Router', [factory.address, weth.address]))
  const birds = await next(await chain.deploy(deployer, 'Birds', [96n], { as: 'Demo Birds' }))
  const items = await next(await chain.deploy(deployer, 'Items', [], { as: 'Demo Items' }))
  const savings = await next(await chain.deploy(deployer, 'Savings', [dollar.address], { as: 'Demo Savings Dollar' }))
  const wallets = await chain.deploy(deployer, 'Wallets', [])
  const airdrop = await next(await chain.deploy(deployer, 'Airdrop', []))
  const fickle = await next(await chain.deploy(deployer, 'Fickle', [true], { value: parseEther('1') }))
  const harborCode = await next(await chain.deploy(mallory, 'Harbor', [], { as: 'Harbor, first code' }))
  // A proxy must be initialised by a call; the harbor's first ship does for it.
  const first = encodeFunctionData({ ...harborCode, functionName: 'arrive', args: ['Ever Forward', 0n] })
  const proxyArgs = [harborCode.address, mallory.address, first]
  const proxy = await next(await chain.deploy(mallory, 'TransparentUpgradeableProxy', proxyArgs))
  const salt = keccak256(toHex('grace'))
  await chain.call(grace, wallets, 'open', [salt], { gas: 300_000n, value: parseEther('5') })
  await chain.mine()
  const walletCode = chain.at('Wallet', await chain.read<Address>(wallets, 'target'))
  return {
    dollar,
    bitcoin,
    govern,
    points,
    relic,
    weth,
    savings,
    factory,
    router,
    // The pairs do not exist before the markets open.
    dollarPair: dollar,
    bitcoinPair: bitcoin,
    governPair: govern,
    birds,
    items,
    wallets,
    walletCode,
    graceWallet: {
      ...chain.at('Wallet', cloneAddress(wallets.address, walletCode.address, grace.address, salt)),
      name: "grace's wallet",
    },
    airdrop,
    fickle,
    harborCode,
    harbor: { ...chain.at('Harbor', proxy.address), name: 'Harbor' },
    proxyAdmin: chain.at('ProxyAdmin', getContractAddress({ from: proxy.address, nonce: 1n })),
    later: [],
  }
}

/** Everyone gets some of everything. */
const fund = async (chain: Chain, stage: Stage) => {
  const { deployer, ...others } = chain.actors
  const shares: [Deployed, bigint][] = [
    [stage.dollar, 500_000_000_000n],
    [stage.bitcoin, 400_000_000n],
    [stage.govern, parseEther('50000')],
    [stage.points, 10_000n],
  ]
  for (const [token, share] of shares) {
    for (const { address } of Object.values(others)) await chain.call(deployer, token, 'mint', [address, share])
    await chain.call(deployer, token, 'mint', [deployer.address, 20n * share])
    await chain.mine()
  }
  for (const { address } of [others.alice, others.judy, others.frank]) {
    await chain.call(deployer, stage.relic, 'transfer', [address, 1000n])
  }
  for (const actor of [others.alice, others.dave, others.erin, others.bob]) {
    await chain.call(actor, stage.weth, 'deposit', [], { value: parseEther('40') })
  }
  await chain.mine()
}

const open = async (chain: Chain, stage: Stage) => {
  const { deployer, mallory, ...traders } = chain.actors
  const { dollar, bitcoin, govern, weth, router, factory } = stage
  for (const token of [dollar, bitcoin, govern, weth]) {
    for (const actor of [deployer, ...Object.values(traders)]) {
      await chain.call(actor, token, 'approve', [router.address, maxUint256])
    }
    await chain.mine()
  }
  const until = () => BigInt(chain.time + 600)
  const eth = (token: Deployed, amount: bigint, value: bigint) =>
    chain.call(deployer, router, 'addLiquidityETH', [token.address, amount, 0n, 0n, deployer.address, until()], {
      gas: 5_000_000n,
      value,
    })
  await eth(dollar, 1_650_000_000_000n, parseEther('500'))
  await chain.mine()
  await eth(bitcoin, 1_700_000_000n, parseEther('500'))
  await chain.mine()
  await chain.call(
    deployer,
    router,
    'addLiquidity',
    [govern.address, dollar.address, parseEther('300000'), 900_000_000_000n, 0n, 0n, deployer.address, until()],
    { gas: 5_000_000n },
  )
  await chain.mine()
  const pair = async (a: Deployed, b: Deployed, name: string) => ({
    ...chain.at('UniswapV2Pair', await chain.read<Address>(factory, 'getPair', [a.address, b.address])),
    name,
  })
  stage.dollarPair = await pair(dollar, weth, 'DUSD/WETH pair')
  stage.bitcoinPair = await pair(bitcoin, weth, 'DBTC/WETH pair')
  stage.governPair = await pair(govern, dollar, 'DGOV/DUSD pair')
  for (const actor of [traders.dave, traders.erin]) {
    await chain.call(actor, stage.dollarPair, 'approve', [router.address, maxUint256])
    await chain.call(actor, dollar, 'approve', [stage.savings.address, maxUint256])
  }
  for (const actor of [traders.heidi, traders.judy]) {
    await chain.call(actor, dollar, 'approve', [stage.savings.address, maxUint256])
  }
  await chain.call(traders.heidi, dollar, 'approve', [router.address, 0n])
  await addLiquidity(chain, stage, traders.dave, parseEther('100'))
  await chain.mine()
}

/** The address of a clone as the wallet factory makes it: CREATE2 of a minimal proxy. */
const cloneAddress = (factory: Address, target: Address, owner: Address, salt: Hex): Address =>
  getContractAddress({
    opcode: 'CREATE2',
    from: factory,
    salt: keccak256(concatHex([padHex(owner, { size: 32 }), salt])),
    bytecode: concatHex(['0x3d602d80600a3d3981f3363d3d373d3d3d363d73', target, '0x5af43d82803e903d91602b57fd5bf3']),
  })
