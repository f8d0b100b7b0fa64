import { keccak256, padHex, parseEther, toHex, zeroAddress } from 'viem'
import { act, inbox, mintBirds, removeLiquidity, stranger } from './acts.ts'
import type { Chain } from './chain.ts'
import { build, type Stage } from './stage.ts'

/** The last block of the demo. */
export const lastBlock = 420

/** What happens in a block of its own right, shown in `data/demo.md`. */
export const calendar: Record<number, string> = {
  60: 'heidi is offered the Demo Dollar (OwnershipTransferStarted)',
  66: 'heidi accepts it (OwnershipTransferred)',
  90: "alice pays for grace's delegation to the wallet code (transaction type 4)",
  120: 'the bird collection changes owner, from the deployer to dave',
  150: 'the Demo Dollar is paused, until 154; transfers of it fail in between',
  200: 'an airdrop of Demo Points to 40 strangers: one transaction, 40 Transfer events',
  210: 'a spam token with markup in its name is sent to everyone',
  240: 'a forged Transfer event whose data is cut off',
  256: 'the birds sell out: 48 transactions in one block, the last of them fail',
  280: 'the harbor is upgraded behind its proxy (Upgraded)',
  300: 'a batch of items (TransferBatch)',
  320: "grace's delegation is taken back",
  333: 'a whale sells a quarter of the dollar reserve at once',
  350: 'a contract that can be destroyed is created; it is destroyed in 360',
  365: 'a contract is created and destroyed within one transaction',
  370: 'the creation of a contract fails',
  380: 'the ownership of the Demo Bitcoin is renounced',
  400: 'dave takes half of his liquidity out',
}

/** Ten blocks in which nothing happens. */
const isQuiet = (height: number) => height >= 180 && height < 190

/** Plays the demo from block 1 to the last. */
export const play = async (chain: Chain): Promise<Stage> => {
  const stage = await build(chain)
  while (chain.height <= lastBlock) {
    await happen(chain, stage)
    if (!isQuiet(chain.height)) {
      const count = Math.floor(12 * chain.random.next() ** 1.6)
      for (let i = 0; i < count; i++) await act(chain, stage)
    }
    await chain.mine()
  }
  return stage
}

/** What the calendar says for this block. */
const happen = async (chain: Chain, stage: Stage) => {
  const { deployer, alice, bob, carol, dave, erin, frank, grace, heidi, ivan, mallory } = chain.actors
  const { random } = chain
  switch (chain.height) {
    case 60:
      return chain.call(deployer, stage.dollar, 'transferOwnership', [heidi.address])
    case 66:
      return chain.call(heidi, stage.dollar, 'acceptOwnership', [])
    case 90:
      return chain.send(alice, {
        to: grace.address,
        gas: 150_000n,
        value: parseEther('0.1'),
        delegate: { actor: grace, to: stage.walletCode.address },
      })
    case 120:
      await chain.call(deployer, stage.birds, 'withdraw', [])
      return chain.call(deployer, stage.birds, 'transferOwnership', [dave.address])
    case 150:
      return chain.call(heidi, stage.dollar, 'pause', [])
    case 151:
    case 153:
      return chain.call(carol, stage.dollar, 'transfer', [bob.address, 5_000_000n], { fails: true })
    case 154:
      return chain.call(heidi, stage.dollar, 'unpause', [])
    case 199:
      return chain.call(deployer, stage.points, 'approve', [stage.airdrop.address, 4000n])
    case 200: {
      const to = Array.from({ length: 40 }, (_, i) => stranger(i))
      return chain.call(deployer, stage.airdrop, 'dropToken', [stage.points.address, to, 100n], { gas: 3_000_000n })
    }
    case 205: {
      const to = Array.from({ length: 5 }, (_, i) => stranger(i))
      return chain.call(bob, stage.airdrop, 'dropEther', [to], { gas: 400_000n, value: parseEther('1') })
    }
    case 209: {
      const args = ['Visit <b>claim.invalid</b> for your prize', '$ CLAIM', 18]
      stage.later.push(await chain.deploy(mallory, 'Token', args, { as: 'spam token' }))
      return
    }
    case 210:
      for (const { address } of Object.values(chain.actors)) {
        await chain.call(mallory, stage.later.at(-1)!, 'mint', [address, parseEther('1000')])
      }
      return
    case 240: {
      const topics = [
        keccak256(toHex('Transfer(address,address,uint256)')),
        padHex(alice.address, { size: 32 }),
        padHex(bob.address, { size: 32 }),
      ]
      return chain.call(mallory, stage.harbor, 'forge', [topics, toHex('too short to be a number')])
    }
    case 241:
      await chain.call(mallory, stage.harbor, 'forge', [[keccak256(toHex('nobody published this'))], '0xdeadbeef'])
      return chain.call(mallory, stage.harbor, 'forge', [
        [1, 2, 3, 4].map(n => keccak256(toHex(`secret ${n}`))),
        toHex('a log under four unknown topics'),
      ])
    case 256: {
      let left = 96n - (await chain.read<bigint>(stage.birds, 'minted'))
      // Grace's address has code at the time, which knows nothing of receiving birds.
      const crowd = Object.values(chain.actors).filter(actor => actor !== mallory && actor !== grace)
      for (let i = 0; i < 48; i++) {
        const count = BigInt(random.int(2, 3))
        await mintBirds(chain, stage, crowd[i % crowd.length]!, count, count > left)
        if (count <= left) left -= count
      }
      return
    }
    case 279:
      stage.later.push(await chain.deploy(mallory, 'Harbor', [], { as: 'Harbor, second code' }))
      return
    case 280: {
      const args = [stage.harbor.address, stage.later.at(-1)!.address, '0x']
      return chain.call(mallory, stage.proxyAdmin, 'upgradeAndCall', args)
    }
    case 300: {
      const ids = [1n, 2n, 3n, 4n, 5n]
      await chain.call(deployer, stage.items, 'mintBatch', [frank.address, ids, [5n, 10n, 15n, 20n, 1n]], {
        gas: 400_000n,
      })
      return chain.call(deployer, stage.items, 'setURI', [5n, 'https://items.invalid/größe-世界-🌍.json'])
    }
    case 310:
      return chain.call(deployer, stage.items, 'grantRole', [keccak256(toHex('MINTER')), frank.address])
    case 312:
      return chain.call(deployer, stage.items, 'revokeRole', [keccak256(toHex('MINTER')), frank.address])
    case 320:
      return chain.send(alice, { to: bob.address, gas: 100_000n, delegate: { actor: grace, to: zeroAddress } })
    case 333: {
      const [reserve0, reserve1] = await chain.read<[bigint, bigint]>(stage.dollarPair, 'getReserves')
      const amount = (stage.dollar.address.toLowerCase() < stage.weth.address.toLowerCase() ? reserve0 : reserve1) / 4n
      return chain.call(
        deployer,
        stage.router,
        'swapExactTokensForETH',
        [amount, 0n, [stage.dollar.address, stage.weth.address], deployer.address, BigInt(chain.time + 60)],
        { gas: 300_000n },
      )
    }
    case 350:
      stage.later.push(await chain.deploy(bob, 'Fuse', [], { value: parseEther('0.5') }))
      return
    case 360:
      return chain.call(bob, stage.later.at(-1)!, 'blow', [alice.address])
    case 365:
      stage.later.push(await chain.deploy(erin, 'Spark', [alice.address], { value: parseEther('0.25') }))
      return
    case 370:
      await chain.deploy(carol, 'Fickle', [false], { gas: 1_000_000n, fails: true })
      return
    case 380:
      return chain.call(deployer, stage.bitcoin, 'renounceOwnership', [])
    case 400: {
      const liquidity = (await chain.read<bigint>(stage.dollarPair, 'balanceOf', [dave.address])) / 2n
      return removeLiquidity(chain, stage, dave, liquidity)
    }
  }
  if (chain.height > 40 && chain.height % 60 === 45) {
    return chain.send(ivan, { to: inbox, data: toHex(`batch ${chain.height}`), gas: 60_000n, blobs: random.int(1, 2) })
  }
}
