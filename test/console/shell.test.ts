import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { tokenOf } from '../e2e/program.ts'
import {
  choose,
  counted,
  DEMO,
  follow,
  press,
  revokeAll,
  see,
  signIn,
  skip,
  useConsole,
  violations,
} from './support.ts'

describe('the shell of the console', { skip }, () => {
  const bench = useConsole()

  test('signs in by a token, which no address holds, and signs out', async t => {
    const page = await bench.open(t)
    await page.getByLabel('Token', { exact: true }).fill('cs_wrong')
    await press(page, 'Sign in')
    await see(page, 'The token is not valid')
    await page.getByLabel('Token', { exact: true }).fill('nothing')
    await press(page, 'Sign in')
    await see(page, 'Tokens begin with cs_')
    await signIn(page, bench.server.token)
    await page.getByRole('grid', { name: 'Hits' }).waitFor()
    assert.ok(!page.url().includes('cs_'))
    assert.deepEqual(await page.context().cookies(), [])
    assert.equal(await page.evaluate(() => localStorage.length), 0)
    await page.reload()
    await page.getByRole('grid', { name: 'Hits' }).waitFor()
    await choose(page, 'Account and settings', 'Sign out')
    await page.getByLabel('Token', { exact: true }).waitFor()
  })

  test('an address without a page says so, and leads back', async t => {
    const page = await bench.enter(t, '/console/nothing/here')
    await see(page, 'There is no page at this address')
    await follow(page, 'Go to Explore')
    await page.getByRole('grid', { name: 'Hits' }).waitFor()
    assert.equal(new URL(page.url()).pathname, '/console/')
  })

  test('keys: ? lists them, / goes to the box', async t => {
    const page = await bench.enter(t)
    await page.getByRole('grid', { name: 'Hits' }).waitFor()
    await page.keyboard.press('?')
    const dialog = page.getByRole('dialog', { name: 'Keys' })
    await see(dialog, 'Next row')
    assert.deepEqual(await violations(page), [])
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await page.keyboard.press('/')
    await page.keyboard.type('?')
    assert.equal(await page.getByLabel('Search').inputValue(), '?')
  })

  test('the header finds tokens, events, blocks, addresses and hashes from every page', async t => {
    const page = await bench.enter(t, '/console/status')
    const box = page.getByRole('combobox', { name: 'Search' })
    const option = (name: RegExp) => page.getByRole('option', { name })
    const { hits } = await bench.server.search(DEMO, 'event', { query: { term: { 'event.raw': 'Swap' } }, size: 1 })
    const { transactionHash, address } = hits.hits[0]!._source as { transactionHash: string; address: string }

    await page.keyboard.press('/')
    await page.keyboard.type('dusd')
    await option(/^DUSD.*token/).waitFor()
    assert.deepEqual(await violations(page), [])
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Token DUSD' }).waitFor()
    assert.equal(await box.inputValue(), '')

    await box.fill('Swa')
    await option(/^Swap.*event/).click()
    await see(page, /^\d+ hits in/)
    assert.equal(new URL(page.url()).searchParams.get('q'), 'event:Swap')

    for (const [typed, title] of [
      [transactionHash, new RegExp(`^Transaction ${transactionHash}`)],
      [address.toLowerCase(), /UNI-V2/],
      ['400', /^Block 400/],
    ] as const) {
      await box.fill(typed)
      await option(/transaction|address|contract|block/)
        .first()
        .waitFor()
      await box.press('Enter')
      await page.getByRole('heading', { level: 1, name: title }).waitFor()
    }
    await box.fill('xyzzyplugh')
    await box.press('Enter')
    await see(page, 'Nothing was found')
  })

  test('theme and zone of times are chosen, and kept', async t => {
    const page = await bench.enter(t, '/console/account', { timezoneId: 'Asia/Tokyo', colorScheme: 'light' })
    const created = page.locator('time').first()
    // What follows says how long ago, and goes on.
    const shown = async () => (await created.textContent())!.slice(0, 19)
    const utc = await shown()
    await press(page, 'Times are UTC: switch to local')
    await press(page, 'Times are local: switch to UTC')
    assert.equal(await shown(), utc)
    await press(page, 'Times are UTC: switch to local')
    await choose(page, 'Account and settings', 'Dark')
    await page.reload()
    await page.getByRole('button', { name: 'Times are local: switch to UTC' }).waitFor()
    assert.notEqual(await shown(), utc)
    const colour = await page.evaluate(() => getComputedStyle(document.body).backgroundColor)
    assert.equal(colour, 'rgb(13, 15, 19)')
    assert.deepEqual(await violations(page), [])
  })

  test('Enter presses what has the focus, and other keys work from a box that takes no text', async t => {
    const page = await bench.enter(t)
    await page.getByRole('row').nth(1).waitFor()
    await page.keyboard.press('j')
    await page.getByLabel('Logs', { exact: true }).check()
    await page.keyboard.press('j')
    await counted(page.locator('[data-at]'), 1)
    await page.getByRole('button', { name: 'Account and settings' }).focus()
    await page.keyboard.press('Enter')
    // The menu takes keys once it has the focus.
    await page.locator('[role="menu"]:focus').waitFor()
    await page.keyboard.press('End')
    await page.locator('[role="menuitem"][data-highlighted]').getByText('Sign out').waitFor()
    await page.keyboard.press('Enter')
    await page.getByLabel('Token', { exact: true }).waitFor()
  })

  test('a table is as high as all of its rows, whichever are drawn', async t => {
    const page = await bench.enter(t, '/console/explore?kinds=event')
    await page.getByRole('row').nth(1).waitFor()
    const grid = page.getByRole('grid', { name: 'Hits' })
    const count = Number(await grid.getAttribute('aria-rowcount')) - 1
    assert.equal(await page.locator('.table .rows').evaluate(rows => rows.clientHeight), count * 36)
  })

  test('a server that goes away is told, and what is shown goes on when it is back', async t => {
    const page = await bench.enter(t)
    await page.getByRole('grid', { name: 'Hits' }).waitFor()
    bench.server.signal('SIGKILL')
    await bench.server.ended
    await page.getByLabel('Query').fill('event:Swap')
    await press(page, 'Search')
    await see(page, 'The console will go on when the server is back')
    const said = page.getByText('The server does not answer')
    await counted(said, 1)
    await follow(page, 'Rules')
    await page.getByRole('tab', { name: 'Silences' }).waitFor()
    await see(page, 'Waiting for the server …')
    await counted(said, 1)
    await page.goBack()
    await bench.restart()
    await see(page, 'Understood as a query string', /^\d+ hits in/)
    await counted(page.getByText('The console will go on'), 0)
  })

  for (const colorScheme of ['light', 'dark'] as const)
    test(`axe finds nothing in the sign-in (${colorScheme})`, async t => {
      const page = await bench.open(t, '/console/', { colorScheme })
      await page.getByLabel('Token', { exact: true }).fill('x')
      await press(page, 'Sign in')
      await see(page, 'Tokens begin with cs_')
      assert.deepEqual(await violations(page), [])
    })

  // The last: it ends the tokens of all.
  test('a revoked token leads to the sign-in with the reason, and back to the page', async t => {
    const page = await bench.enter(t, '/console/explore?q=event:Swap&kinds=event')
    await page.getByRole('grid', { name: 'Hits' }).waitFor()
    // The search is under way before anything else that the page asks can be refused.
    await page.route(
      '**/es/event,log/search/**',
      async route => {
        revokeAll(bench.data)
        await page.waitForTimeout(1_500)
        await route.continue()
      },
      // Not again after the sign-in.
      { times: 1 },
    )
    await page.getByLabel('Logs', { exact: true }).check()
    await see(page, 'You were signed out: The token is not valid')
    await signIn(page, tokenOf(bench.data))
    await page.getByRole('grid', { name: 'Hits' }).waitFor()
    assert.equal(new URL(page.url()).searchParams.get('kinds'), 'event,log')
    assert.equal(await page.getByLabel('Query').inputValue(), 'event:Swap')
  })
})
