import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { checkLayout, DEMO, overhang, press, see, signIn, skip, turnTo, useConsole, violations } from './support.ts'

const DOLLAR = '0x252bFe6BA05B239912fE0F8f514b3564F40A7A96'

describe('Explore', { skip }, () => {
  const bench = useConsole()
  const total = (kinds: string, query: unknown) => bench.server.total(DEMO, kinds, query)

  test('a search shows its hits, its exact total, and a hit with all of its fields and as JSON', async t => {
    const page = await bench.enter(t)
    await page.getByLabel('Query').fill('event:Swap')
    await page.getByLabel('Transactions', { exact: true }).uncheck()
    await press(page, 'Search')
    const expected = await total('event', { term: { 'event.raw': 'Swap' } })
    await see(page, `${expected.toLocaleString('en-GB')} hits in`)
    const row = page.getByRole('row').filter({ hasText: 'Swap(' }).first()
    await row.getByRole('gridcell').first().click()
    const opened = page.getByRole('complementary', { name: 'The open hit' })
    await see(opened, 'transactionHash')
    await turnTo(opened, 'JSON')
    await opened.getByRole('region').getByText('"transactionHash"').waitFor()
    await page.keyboard.press('Escape')
    await opened.waitFor({ state: 'detached' })
  })

  test('an open hit says each value once, with arguments in units and links', async t => {
    const page = await bench.enter(
      t,
      `/console/explore?kinds=event&q=${encodeURIComponent(`event:Transfer AND address:${DOLLAR}`)}`,
    )
    await page.getByRole('row').nth(1).getByRole('gridcell').first().click()
    const opened = page.getByRole('complementary', { name: 'The open hit' })
    await see(opened, /^event Transfer$/)
    const facts = await opened.locator('.fields > div > dt').allTextContents()
    assert.ok(facts.includes('transactionHash') && facts.includes('logIndex'))
    assert.deepEqual(
      facts.filter(it => /\.(num|raw)$|^(str|error|revertReason)$/.test(it)),
      [],
    )
    assert.doesNotMatch((await opened.textContent())!, /null|\{"/)
    await opened.locator('.args .amount', { hasText: /^[\d,.]+ DUSD$/ }).waitFor()
    const hash = await opened
      .getByRole('link', { name: /^0x[0-9a-f]{64}$/ })
      .first()
      .getAttribute('href')
    assert.match(hash!, /\/(tx|block)\/0x/)
  })

  test('the address restores all of the state, and back goes back', async t => {
    const page = await bench.enter(t, '/console/explore?q=event:Transfer&kinds=event,log')
    await see(page, 'Understood as a query string')
    assert.equal(await page.getByLabel('Query').inputValue(), 'event:Transfer')
    assert.ok(await page.getByLabel('Logs', { exact: true }).isChecked())
    await page.getByRole('row').nth(1).getByRole('gridcell').first().click()
    await page.getByRole('complementary').getByText('transactionHash').waitFor()
    const link = page.url()
    await page.reload()
    await page.getByRole('complementary').getByText('transactionHash').waitFor()
    assert.equal(page.url(), link)
    await page.goBack()
    await page.getByRole('complementary').waitFor({ state: 'detached' })
  })

  test('names in the address that every object has are names like others', async t => {
    const page = await bench.enter(t, '/console/explore?range=constructor&columns=constructor,toString')
    await page.getByRole('button', { name: /All of the chain/ }).waitFor()
    await page.getByRole('columnheader', { name: 'constructor' }).waitFor()
  })

  test('the box takes addresses, hashes, block numbers, and JSON with all of its digits', async t => {
    const page = await bench.enter(t, '/console/explore?kinds=block,tx,event')
    const ask = async (text: string, as: string) => {
      await page.getByLabel('Query').fill(text)
      await press(page, 'Search')
      await see(page, `Understood as ${as}.`)
      const told = await page.getByText(/^[\d,]+ hits? in/).textContent()
      return Number(told!.replace(/ .*/, '').replaceAll(',', ''))
    }
    const inEvents = { nested: { path: 'args', query: { term: { 'args.value.hex': DOLLAR } } } }
    assert.ok((await ask(DOLLAR, 'an address')) > (await total('event', inEvents)))
    const height = await ask('400', 'a block number')
    const above = { bool: { should: ['number.num', 'blockNumber.num'].map(field => ({ term: { [field]: 400 } })) } }
    assert.equal(height, await total('block,tx,event', above))
    const large = '{"range": {"value.dec": {"gt": 9007199254740993}}}'
    assert.equal(await ask(large, 'a query in JSON'), await total('block,tx,event', JSON.parse(large)))
    await page.getByLabel('Query').fill('{"term": }')
    await press(page, 'Search')
    await see(page, 'This is not JSON')
    await page.getByLabel('Query').fill('nofield:1')
    await press(page, 'Search')
    await see(page, 'no field [nofield]')
  })

  test('j and k go through the hits, and further ones come without an end', async t => {
    const page = await bench.enter(t, '/console/explore?kinds=event')
    const grid = page.getByRole('grid', { name: 'Hits' })
    await grid.waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await page.keyboard.press('k')
    await page.keyboard.press('Enter')
    const [, first] = await grid.getByRole('row').allTextContents()
    assert.equal(await grid.locator('[aria-selected=true]').textContent(), first)
    const count = async () => Number(await grid.getAttribute('aria-rowcount')) - 1
    const all = await total('event', { match_all: {} })
    for (const end = Date.now() + 120_000; (await count()) < all && Date.now() < end; ) {
      await grid.evaluate(box => box.scrollTo(0, box.scrollHeight))
      await page.waitForTimeout(50)
    }
    assert.equal(await count(), all)
    assert.ok((await grid.getByRole('row').count()) < 100, 'only what is in sight is drawn')
  })

  test('text from the chain stays text, whatever it is', async t => {
    const page = await bench.open(t)
    const odd = `<script>document.title='x'</script><img src=x onerror="document.title='x'">\u202e\u0000\u2066`
    const document = { timestamp: '2025-01-01T00:00:00', str: `${odd}${'A'.repeat(32_768)}`, [odd]: odd }
    const hit = { _index: 'x', _type: 'event', _id: `0x${'ab'.repeat(32)}_e_0`, _source: document, sort: [1] }
    await page.route('**/es/*/search/', route =>
      route.fulfill({ json: { took: 1, hits: { total: 1, hits: [hit] }, aggregations: {} } }),
    )
    await page.route('**/es/event/*/', route => route.fulfill({ json: hit }))
    await signIn(page, bench.server.token)
    const cell = page.getByRole('grid').getByText('<script>')
    await cell.waitFor()
    assert.match((await cell.textContent())!, /U\+202E.*U\+0000.*U\+2066/s)
    await cell.click()
    const opened = page.getByRole('complementary')
    await opened.getByRole('button', { name: 'Show all 32,' }).waitFor()
    await turnTo(opened, 'JSON')
    await opened.getByRole('region').getByText('<script>').first().waitFor()
    assert.equal(await page.title(), 'Explore · Chainsieve')
    assert.equal(await overhang(page), 0)
    assert.deepEqual(await violations(page), [])
  })

  for (const colorScheme of ['light', 'dark'] as const)
    test(`axe finds nothing, wide and narrow (${colorScheme})`, async t => {
      const page = await bench.enter(t, '/console/explore?kinds=tx,event', { colorScheme })
      await page.getByRole('row').nth(1).getByRole('gridcell').first().click()
      await page.getByRole('complementary').getByText('blockHash').waitFor()
      await page.locator('.chart canvas').waitFor()
      for (const width of [1_440, 1_024, 390]) {
        await page.setViewportSize({ width, height: 900 })
        assert.deepEqual(await violations(page), [], `${width}`)
        assert.equal(await overhang(page), 0, `${width}`)
      }
      await checkLayout(page)
    })
})
