import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { checkLayout, counted, DEMO, follow, overhang, press, see, skip, useConsole } from './support.ts'

const AT = `/console/${DEMO}`
const DOLLAR = '0x252bFe6BA05B239912fE0F8f514b3564F40A7A96'
const ALICE = '0x0D3eB21b6b21833A4939Cfff4810E9AE0758e12C'
const PROXY = '0x96413f97B68fA79d0Be52a7EDc327D283fAaa5A8'

describe('pages of things', { skip }, () => {
  const bench = useConsole()
  const first = async (kind: string, query: unknown, sort: unknown = [{ _shard_doc: 'asc' }]) =>
    (await bench.server.search(DEMO, kind, { query, size: 1, sort })).hits.hits[0]!
  const fact = (page: Page, name: string) =>
    page.locator('.thing-facts > div').filter({ has: page.getByText(name, { exact: true }) })
  /** Hits of the search that Explore opened with. */
  const soughtTotal = async (page: Page) => {
    await page.waitForURL(/explore/)
    const sought = new URL(page.url()).searchParams
    return bench.server.total(DEMO, sought.get('kinds')!, JSON.parse(sought.get('q')!))
  }
  const calls = (page: Page) => page.getByRole('tree', { name: 'Calls' })
  const tab = (page: Page, name: string | RegExp) => page.getByRole('tab', { name })

  test('a block by number and by hash, its transactions, its neighbours, and the last one without a next', async t => {
    const page = await bench.enter(t, `${AT}/block/400`)
    await page.getByRole('heading', { name: 'Block 400' }).waitFor()
    const txs = await bench.server.total(DEMO, 'tx', { term: { 'blockNumber.num': 400 } })
    const events = await bench.server.total(DEMO, 'event', { term: { 'blockNumber.num': 400 } })
    await tab(page, `Transactions (${txs})`).waitFor()
    await tab(page, `Events (${events})`).click()
    await page.getByRole('grid', { name: 'Events' }).getByRole('row').nth(events).waitFor()
    await follow(page, 'Next block')
    await page.getByRole('heading', { name: 'Block 401' }).waitFor()
    assert.match(await page.title(), /^Block 401/)
    await page.getByRole('link', { name: 'Previous block' }).waitFor()
    await page.keyboard.press('[')
    await page.getByRole('heading', { name: 'Block 400' }).waitFor()
    const { _id } = await first('block', { term: { 'number.num': 420 } })
    await page.goto(`${bench.server.url}${AT}/block/${_id}`)
    await page.getByRole('heading', { name: 'Block 420' }).waitFor()
    await page.getByRole('link', { name: 'Previous block' }).waitFor()
    assert.equal(await page.getByRole('link', { name: 'Next block' }).count(), 0)
    await page.getByRole('grid', { name: 'Transactions' }).getByRole('row').nth(1).click()
    await page.getByRole('heading', { name: 'Transaction' }).waitFor()
  })

  test('a transaction that failed by a custom error says where, and leads to its neighbours', async t => {
    const { _id, _source } = await first('tx', { term: { revertName: 'OwnableUnauthorizedAccount' } })
    const page = await bench.enter(t, `${AT}/tx/${_id}`)
    await fact(page, 'Status').getByText('OwnableUnauthorizedAccount(').waitFor()
    await calls(page).getByText('the failure began here').waitFor()
    await tab(page, 'Input').click()
    await page.getByRole('region', { name: 'Decoded' }).getByText(String(_source.method)).waitFor()
    await page.getByRole('region', { name: 'Raw' }).getByRole('listitem').first().waitFor()
    const nonce = (_source.nonce as { num: number }).num
    await follow(page, 'Next of the sender')
    await fact(page, 'From')
      .getByText(`nonce ${nonce + 1}`, { exact: true })
      .waitFor()
    await page.getByRole('link', { name: 'Previous of the sender' }).waitFor()
    await page.keyboard.press('{')
    await fact(page, 'From').getByText(`nonce ${nonce}`, { exact: true }).waitFor()
  })

  test('the tree has a line for each call, which opens and closes by click and by keys', async t => {
    const inner = await first('call', {
      bool: { filter: [{ term: { reverted: true } }, { range: { depth: { gt: 0 } } }] },
    })
    const id = String(inner._source.transactionHash)
    const page = await bench.enter(t, `${AT}/tx/${id}`)
    const all = await bench.server.total(DEMO, 'trace', { term: { transactionHash: id } })
    const rows = calls(page).getByRole('treeitem')
    await counted(rows, all)
    const failed = await bench.server.total(DEMO, 'trace', {
      bool: { filter: [{ term: { transactionHash: id } }, { exists: { field: 'error' } }] },
    })
    await counted(calls(page).getByText(/failed/), failed)
    for (const box of await rows.evaluateAll(found => found.map(it => it.getBoundingClientRect().height)))
      assert.ok(box <= 32, `a line is ${box} px high`)

    await rows.first().focus()
    await page.keyboard.press('ArrowLeft')
    await counted(rows, 1)
    await page.keyboard.press('ArrowRight')
    await counted(rows, all)
    await page.keyboard.press('ArrowRight')
    assert.equal(await rows.nth(1).evaluate(row => row === document.activeElement), true)
    await page.keyboard.press('Enter')
    await rows.nth(1).getByText('Input', { exact: true }).waitFor()
    await page.keyboard.press('Enter')
    await counted(rows.nth(1).getByText('Input', { exact: true }), 0)
    await page.keyboard.press('End')
    assert.equal(await rows.nth(all - 1).evaluate(row => row === document.activeElement), true)

    await press(page, 'Collapse all')
    const traces = await bench.server.search(DEMO, 'trace', { query: { term: { transactionHash: id } }, size: 100 })
    const upper = traces.hits.hits.filter(({ _source }) => (_source.traceAddress as number[]).length < 2)
    await counted(rows, upper.length)
    await press(page, 'Expand all')
    await counted(rows, all)
    await page.getByLabel('Failed only').check()
    assert.ok((await rows.count()) >= failed)
    await rows.last().locator('.called').click()
    await rows.last().getByText('Input', { exact: true }).waitFor()
  })

  test('events, transfers and balance changes of a swap; its sentence links what it names', async t => {
    const swap = await first('event', { term: { 'event.raw': 'Swap' } })
    const hash = String(swap._source.transactionHash)
    const logs = await bench.server.total(DEMO, 'log', { term: { transactionHash: hash } })
    const page = await bench.enter(t, `${AT}/tx/${hash}?tab=events`)
    const events = page.getByRole('list', { name: 'Events' }).locator('> li')
    await events.nth(logs - 1).waitFor()
    await counted(events, logs)
    const sentence = page.locator('.sentence')
    await sentence.getByText(/^swapped | swapped /).waitFor()
    await sentence.getByRole('link', { name: 'DUSD' }).waitFor()
    const title = await sentence.locator('.amount').first().getAttribute('title')
    assert.match(title!, /^\d+ \/ 10\^\d+$/, 'smallest units as title')
    const moved = await bench.server.total(DEMO, 'event', {
      bool: { filter: [{ term: { transactionHash: hash } }, { term: { 'event.raw': 'Transfer' } }] },
    })
    await tab(page, /^Transfers/).click()
    await page.getByRole('region', { name: 'Transfers', exact: true }).getByRole('row').nth(moved).waitFor()
    const sender = String((await first('tx', { ids: { values: [hash] } }))._source.from)
    const own = page
      .getByRole('region', { name: 'Balance changes' })
      .getByRole('row')
      .filter({ has: page.locator(`[title="${sender}"]`) })
    await own.getByText(/fee$/).first().waitFor()
    assert.ok((await own.locator('.bad').count()) >= 1)
    await sentence.getByRole('link').nth(1).click()
    await page.getByRole('heading', { name: /^(Token|Contract)/ }).waitFor()
  })

  test('charts of a contract and a token count what the index has, and lead to their search', async t => {
    const page = await bench.enter(t, `${AT}/address/${DOLLAR}?tab=activity`)
    const chart = page.getByRole('region', { name: 'Calls by method', exact: true })
    const total = await bench.server.total(DEMO, 'call', {
      bool: { filter: [{ term: { to: DOLLAR } }, { term: { method: 'transfer' } }] },
    })
    const item = chart.getByRole('listitem').filter({ hasText: /^transfer / })
    await item.getByRole('link', { name: total.toLocaleString('en-GB') }).waitFor()
    await chart.locator('canvas').waitFor()
    const failures = page.getByRole('region', { name: 'Failed calls by method' })
    await failures.getByRole('listitem').first().waitFor()
    const callers = page.getByRole('region', { name: 'Calls by caller' })
    await callers.getByRole('listitem').first().getByRole('link').first().waitFor()
    await item.getByRole('link').click()
    assert.equal(await soughtTotal(page), total)

    await page.goto(`${bench.server.url}${AT}/token/${DOLLAR}?tab=activity`)
    await page.getByRole('region', { name: 'Volume in units of the token' }).locator('canvas').waitFor()
    const transfers = page.getByRole('region', { name: 'Transfers', exact: true })
    await follow(transfers, 'Search in Explore')
    const moved = await bench.server.total(DEMO, 'event', {
      bool: { filter: [{ term: { address: DOLLAR } }, { term: { 'event.raw': 'Transfer' } }] },
    })
    assert.equal(await soughtTotal(page), moved)
  })

  test('an account: in and out, transfers, tokens; a row leads to the transaction and back', async t => {
    const page = await bench.enter(t, `${AT}/address/${ALICE}`)
    const total = (query: unknown) => bench.server.total(DEMO, 'tx', query)
    const [sent, got] = [await total({ term: { from: ALICE } }), await total({ term: { to: ALICE } })]
    await page.getByRole('heading', { name: 'Account' }).waitFor()
    await page.getByLabel('Show').selectOption({ label: `Out (${sent})` })
    await page.getByLabel('Show').selectOption({ label: `In (${got})` })
    const grid = page.getByRole('grid', { name: 'Transactions' })
    await grid.waitFor()
    await tab(page, 'Tokens').click()
    await page.getByRole('region', { name: 'Transfers by token' }).getByRole('link', { name: 'DUSD' }).waitFor()
    await tab(page, /^Token transfers/).click()
    await page.getByRole('grid', { name: 'Token transfers' }).getByText('DUSD').first().waitFor()
    await page.getByRole('grid').getByRole('row').nth(1).getByRole('gridcell').first().click()
    await page.getByRole('heading', { name: 'Transaction' }).waitFor()
    await page.goBack()
    await page.getByRole('grid', { name: 'Token transfers' }).waitFor()
  })

  test('a proxy: its implementation and upgrades, how its ABI is known, similar contracts', async t => {
    const page = await bench.enter(t, `${AT}/address/${PROXY}?tab=contract`)
    const proxy = page.getByRole('region', { name: 'Proxy' })
    await see(proxy, /^Implementation$/)
    const upgrades = await bench.server.total(DEMO, 'event', {
      bool: { filter: [{ term: { address: PROXY } }, { term: { 'event.raw': 'Upgraded' } }] },
    })
    const listed = proxy.locator('.thing-facts > div').filter({ hasText: 'Upgrades' }).getByRole('listitem')
    await listed.nth(upgrades - 1).waitFor()
    await counted(listed, upgrades)
    const created = proxy.locator('.thing-facts > div').filter({ hasText: 'First implementation' })
    await created.getByRole('link').click()
    await tab(page, 'Contract').click()
    await proxy.locator(`a[title="${PROXY}"]`).waitFor()
    await page.goBack()
    await page.getByRole('region', { name: 'ABI' }).getByText('By signatures alone').waitFor()
    await page.goto(`${bench.server.url}${AT}/address/${DOLLAR}?tab=contract`)
    await page.getByRole('region', { name: 'Similar contracts' }).getByText('100 % of the code alike').first().waitFor()
  })

  test('a token: transfers with decimals and symbol, what was minted, and no holders', async t => {
    const page = await bench.enter(t, `${AT}/token/${DOLLAR}`)
    await page.getByRole('heading', { name: 'Token DUSD' }).waitFor()
    const moved = await bench.server.total(DEMO, 'event', {
      bool: { filter: [{ term: { address: DOLLAR } }, { term: { 'event.raw': 'Transfer' } }] },
    })
    await tab(page, `Token transfers (${moved})`).waitFor()
    await page
      .getByRole('grid', { name: 'Token transfers' })
      .getByText(/ DUSD$/)
      .first()
      .waitFor()
    await page.getByLabel('Show').selectOption('Minted')
    await page.getByRole('grid', { name: 'Token transfers' }).getByText('minted').first().waitFor()
    await fact(page, 'Holders').getByText('Not known').waitFor()
    await fact(page, 'Contract').getByRole('link').click()
    await page.getByRole('heading', { name: 'Contract' }).waitFor()
  })

  test('what is not stored says where it was looked, and what else has the id', async t => {
    const none = `0x${'ab'.repeat(32)}`
    const page = await bench.enter(t, `${AT}/tx/${none}`)
    await see(page, 'This transaction is not stored', `Searched tx documents of ${DEMO}, blocks 0 to 420.`)
    const go = (path: string) => page.goto(`${bench.server.url}${AT}/${path}`)
    await go('block/999')
    await see(page, 'This block is not stored')
    const { _id } = await first('tx', { match_all: {} })
    await go(`block/${_id}`)
    await follow(page, 'a transaction')
    await page.getByRole('heading', { name: 'Transaction' }).waitFor()
    await go('tx/nonsense')
    await see(page, 'The hash of a transaction is')
    await go(`address/0x${'ab'.repeat(20)}`)
    await see(page, 'Nothing is stored of this address')
    await go(`token/${ALICE}`)
    await follow(page, 'Go to the address')
    await page.getByRole('heading', { name: 'Account' }).waitFor()
    await page.goto(`${bench.server.url}/console/ethereum/no/such/block/1`)
    await page.getByRole('alert').filter({ hasText: 'The block cannot be read' }).waitFor()
  })

  test('hostile text from the chain stays text on every page', async t => {
    const odd = `<script>document.title='x'</script><img src=x onerror="document.title='x'">\u202e\u0000`
    const long = `${odd}${'A'.repeat(32_768)}`
    const page = await bench.enter(t)
    // Whatever text the server tells of names, symbols, events, arguments and errors is such.
    const spoil = (key: string, value: unknown): unknown =>
      typeof value === 'string' && SPOILT.has(key) ? long : key === 'status' && value === true ? false : value
    await page.route(/\/es\/|\/abi\//, async route => {
      const response = await route.fetch()
      const text = await response.text()
      await route.fulfill({ response, body: JSON.stringify(JSON.parse(text, spoil)) })
    })
    const { _source } = await first('event', { term: { 'event.raw': 'Swap' } })
    for (const path of [
      ...['calls', 'events', 'transfers', 'input', 'json'].map(tab => `tx/${_source.transactionHash}?tab=${tab}`),
      ...['block/400', 'block/400?tab=events', `address/${DOLLAR}`, `address/${PROXY}?tab=contract`],
      ...[
        `address/${DOLLAR}?tab=events`,
        `address/${DOLLAR}?tab=activity`,
        `token/${DOLLAR}`,
        `token/${DOLLAR}?tab=events`,
      ],
    ]) {
      await page.goto(`${bench.server.url}${AT}/${path}`)
      await page
        .getByText('<script>')
        .first()
        .waitFor()
        .catch(error => assert.fail(`${path}: ${error}`))
      assert.notEqual(await page.title(), 'x', path)
      assert.equal(await page.locator('img').count(), 0)
      assert.equal(await overhang(page), 0, path)
      assert.ok(!(await page.title()).includes('\u202e'))
    }
  })

  for (const colorScheme of ['light', 'dark'] as const)
    test(`axe finds nothing, wide and narrow (${colorScheme})`, async t => {
      const page = await bench.enter(t, `${AT}/block/400`, { colorScheme })
      const failing = await first('tx', { exists: { field: 'revertName' } })
      const { _source } = await first('event', { term: { 'event.raw': 'Swap' } })
      for (const [path, shown] of [
        ['block/400', 'Parent block'],
        [`tx/${failing._id}`, 'the failure began here'],
        [`tx/${_source.transactionHash}?tab=events`, 'Topics and data'],
        [`tx/${_source.transactionHash}?tab=transfers`, 'DUSD'],
        [`tx/${_source.transactionHash}?tab=input`, 'Raw, '],
        [`address/${ALICE}`, 'In and out'],
        [`address/${PROXY}?tab=contract`, '% of the code alike'],
        [`address/${DOLLAR}?tab=activity`, 'transferFrom'],
        [`token/${DOLLAR}`, 'DUSD'],
        [`tx/0x${'ab'.repeat(32)}`, 'Searched tx'],
      ] as const) {
        await page.setViewportSize({ width: 1280, height: 860 })
        await page.goto(`${bench.server.url}${AT}/${path}`)
        await page.getByText(shown).first().waitFor({ state: 'attached' })
        await checkLayout(page, path)
      }
    })
})

const SPOILT = new Set(['name', 'symbol', 'event', 'method', 'str', 'error', 'revertReason', 'standard'])
