import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { keccak256 } from 'viem'
import { until } from '../e2e/program.ts'
import type { Receipt } from '../support/anvil.ts'
import { codeOf, initCodeOf } from '../support/deploy.ts'
import { see, skipChain as skip, useChain, violations } from './support.ts'

const NETWORK = 'ethereum/anvil/local'
const AT = `/console/${NETWORK}`

/** Where ERC-1967 keeps the implementation. */
const IMPLEMENTATION = '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc'
const SYMBOL = '<img src=x>\u200b'
/** Reverts with `OwnableUnauthorizedAccount(caller)`. */
const REFUSER = `0x63118cdaa760e01b5f523360045260245ffd`
const forwarderTo = (to: string) => `0x600060006000600034${`73${to.slice(2)}`}5af100`

const pad = (value: string | number) => BigInt(value).toString(16).padStart(64, '0')
const balanceOf = (holder: string) => keccak256(`0x${pad(holder)}${pad(0)}`)
/** A short string as Solidity stores it. */
const stored = (text: string) => {
  const bytes = Buffer.from(text)
  return BigInt(`0x${bytes.toString('hex').padEnd(62, '0')}${(bytes.length * 2).toString(16).padStart(2, '0')}`)
}
const transferTo = (to: string, units: bigint) => `0xa9059cbb${pad(to)}${units.toString(16).padStart(64, '0')}`

describe('pages of things on a running node', { skip }, () => {
  const { bench, chain } = useChain(NETWORK, '--traces', 'all')
  let [wallet, other] = ['', '']
  before(async () => {
    if (!skip) [wallet, other] = (await chain.anvil.call<string[]>('eth_accounts')) as [string, string]
  })

  const deploy = async (code: string, storage: Record<string, bigint | string> = {}) =>
    (await chain.anvil.send({ from: wallet, data: initCodeOf(code, storage) })).contractAddress
  const indexed = ({ transactionHash }: Receipt) =>
    until(
      () => bench.server.total(NETWORK, 'tx', { ids: { values: [transactionHash] } }),
      total => total === 1,
    )

  test('a transaction that fails by a custom error, and a step that fails inside of one that succeeds', async t => {
    const refuser = await deploy(REFUSER)
    const forwarder = await deploy(forwarderTo(refuser))
    const failed = await chain.anvil.send({ from: wallet, to: refuser })
    const partly = await chain.anvil.send({ from: wallet, to: forwarder })
    await indexed(partly)
    const page = await bench.enter(t, `${AT}/tx/${failed.transactionHash}`)
    const result = page.locator('.thing-facts > div').filter({ hasText: 'Status' })
    await see(result, 'Failed', 'OwnableUnauthorizedAccount(')
    await see(page, 'the failure began here')
    await page.goto(`${bench.server.url}${AT}/tx/${partly.transactionHash}`)
    await see(result, 'Succeeded')
    const steps = page.getByRole('tree', { name: 'Calls' }).getByRole('treeitem')
    await see(steps.nth(1), 'failed', 'OwnableUnauthorizedAccount(')
    assert.equal(await steps.nth(0).getByText('failed').count(), 0)
    assert.deepEqual(await violations(page), [])
  })

  test('a transfer through a proxy, step by step; a transfer; a token with a hostile name', async t => {
    const code = codeOf('Plain')
    const token = await deploy(code, { 3: 'Dollar', 4: stored(SYMBOL), [balanceOf(wallet)]: 10n ** 21n })
    const proxy = await deploy(codeOf('ERC1967Proxy'), {
      [IMPLEMENTATION]: BigInt(token),
      [balanceOf(wallet)]: 10n ** 21n,
    })
    const direct = await chain.anvil.send({ from: wallet, to: token, data: transferTo(other, 15n * 10n ** 17n) })
    const through = await chain.anvil.send({ from: wallet, to: proxy, data: transferTo(other, 7n) })
    await indexed(through)
    const page = await bench.enter(t, `${AT}/tx/${direct.transactionHash}?tab=transfers`)
    const moved = page.getByRole('region', { name: 'Transfers' }).getByRole('row').nth(1)
    await see(moved, '1.5')
    await moved.getByText('U+200B').first().waitFor()
    await page.goto(`${bench.server.url}${AT}/tx/${through.transactionHash}`)
    const steps = page.getByRole('tree', { name: 'Calls' }).getByRole('treeitem')
    await see(steps.nth(1), 'delegatecall')
    await steps.nth(1).getByText('transfer', { exact: true }).waitFor()
    await page.goto(`${bench.server.url}${AT}/token/${token}`)
    await page.getByRole('heading', { name: '<img src=x>' }).getByText('U+200B').waitFor()
    await page.getByRole('grid', { name: 'Token transfers' }).getByText('1.5').waitFor()
    assert.equal(await page.locator('img').count(), 0)
  })
})
