import assert from 'node:assert/strict'
import { BlockList, isIPv4 } from 'node:net'
import { test } from 'node:test'
import fc from 'fast-check'
import { createGuard, parseAddress } from '../../src/delivery/ssrf-guard.ts'

const PUBLIC = `
1.0.0.1 1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 168.63.129.15 168.63.129.17
169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 192.0.1.0 192.0.3.0 192.88.98.255 192.88.100.0 192.167.255.255 192.169.0.0
198.17.255.255 198.20.0.0 198.51.99.255 198.51.101.0 203.0.112.255 203.0.114.0 223.255.255.255
2000:: 2001:1:: 2001:4860:4860::8888 2001:200:: 2001:db7:ffff:: 2001:db9:: 2003:: 2606:4700:4700::1111 2a00:1450::1 3ffe:ffff::
3fff:1000:: ::ffff:8.8.8.8 ::ffff:808:808 0:0:0:0:0:ffff:1.1.1.1
`

const INWARD = `
0.0.0.0 0.255.255.255 10.0.0.0 10.255.255.255 100.64.0.0 100.100.100.200 100.127.255.255 127.0.0.1 127.255.255.255 168.63.129.16
169.254.0.0 169.254.169.254 169.254.255.255 172.16.0.0 172.31.255.255 192.0.0.0 192.0.0.192 192.0.0.255 192.0.2.1 192.88.99.1
192.168.0.0 192.168.255.255 198.18.0.0 198.19.255.255 198.51.100.7 203.0.113.7 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255
:: ::1 ::2 ::127.0.0.1 ::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:10.1.2.3 ::ffff:169.254.169.254 ::ffff:0.0.0.0 ::ffff:0:127.0.0.1
0:0:0:0:0:0:0:1 0000:0000:0000:0000:0000:ffff:7f00:0001 64:ff9b::8.8.8.8 64:ff9b::127.0.0.1 64:ff9b:1::1 64:ff9b:1:ffff::10.0.0.1
100::1 1fff:ffff:: 2001:: 2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:2::1 2001:10::1 2001:1f:ffff:: 2001:20::1 2001:2f:ffff::
2001:db8::1 2001:db8:ffff:: 2002:7f00:1:: 2002:808:808:: 3fff:: 3fff:fff:: 4000:: 5f00::1 fc00::1 fd00:ec2::254 fdff:: fe80::1
fe80::1%eth0 febf:: fec0::1 ff02::1 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff
`

const list = (text: string) => text.trim().split(/\s+/)

test('public addresses may be reached, and no others', () => {
  const guard = createGuard([])
  assert.deepEqual(
    list(PUBLIC).filter(it => guard.refused(it) !== undefined),
    [],
  )
  assert.deepEqual(
    list(INWARD).filter(it => guard.refused(it) === undefined),
    [],
  )
  for (const text of [
    '',
    'localhost',
    '1.2.3',
    '0x7f.1',
    '2130706433',
    '127.1',
    '[::1]',
    '1.2.3.4/8',
    '::1::',
    '12345::',
  ])
    assert.equal(guard.refused(text), 'no IP address', text)
  assert.equal(guard.refused('::ffff:10.0.0.1'), 'a private address')
  assert.equal(guard.refused('169.254.169.254'), 'a link-local address')
})

test('an allowed range is open, for its mapped form too, and nothing else is', () => {
  const guard = createGuard(['127.0.0.0/8', '10.1.2.3', 'fd00:1::/32', '192.168.4.0/23'])
  for (const address of ['127.0.0.1', '::ffff:127.9.9.9', '10.1.2.3', 'fd00:1:ffff::1', '192.168.4.1', '192.168.5.255'])
    assert.equal(guard.refused(address), undefined, address)
  for (const address of [
    '10.1.2.4',
    '::1',
    'fd00:2::1',
    '192.168.6.0',
    '192.168.3.255',
    '64:ff9b::10.1.2.3',
    '2002:0a01:0203::',
    '::10.1.2.3',
  ])
    assert.notEqual(guard.refused(address), undefined, address)
  assert.equal(createGuard(['::/0']).refused('::1'), undefined)
  assert.equal(createGuard(['0.0.0.0/0']).refused('::ffff:10.0.0.1'), undefined)
  assert.equal(createGuard(['64:ff9b::/96']).refused('64:ff9b::808:808'), undefined)
})

test('what is no range is refused', () => {
  for (const range of [
    '10.0.0.0/33',
    '10.0.0.0/-1',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    'fd00::/129',
    'ten',
    '',
    '10.0.0/8',
    '10.0.0.0/ 8',
  ])
    assert.throws(() => createGuard([range]), { code: 'invalid_range' }, range)
})

test('hosts of URLs: addresses in any spelling that a URL takes, and names of this machine', () => {
  const guard = createGuard([])
  const inward = [
    '127.1',
    '0x7f.1',
    '2130706433',
    '017700000001',
    '0',
    '127.0.0.1.',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[0:0::1]',
    'localhost',
    'LOCALHOST',
    'localhost.',
    'a.localhost',
    '①②⑦.0.0.1',
    '169.254.169.254',
    '[fe80::1]',
    '10.1',
  ]
  for (const host of inward) assert.notEqual(guard.refusedHost(new URL(`http://${host}/`).hostname), undefined, host)
  for (const host of ['example.org', 'localhost.example.org', 'notlocalhost', '8.8.8.8', '134744072', '[2606:4700::1]'])
    assert.equal(guard.refusedHost(new URL(`http://${host}/`).hostname), undefined, host)
  assert.equal(createGuard(['127.0.0.0/8']).refusedHost('localhost'), undefined)
})

test('ranges hold what they hold for Node, bit by bit', () => {
  const v4 = fc.ipV4()
  const v6 = fc.ipV6()
  const range = fc.oneof(fc.tuple(v4, fc.integer({ min: 0, max: 32 })), fc.tuple(v6, fc.integer({ min: 0, max: 128 })))
  fc.assert(
    fc.property(range, fc.oneof(v4, v6), fc.nat(), ([net, bits], other, flip) => {
      // Near to the range's edge, one bit of its own address changed.
      const bytes = parseAddress(net)!
      const bit = flip % (bytes.length * 8)
      bytes[bit >> 3]! ^= 128 >> (bit & 7)
      const near = isIPv4(net)
        ? bytes.join('.')
        : Array.from({ length: 8 }, (_, i) => ((bytes[2 * i]! << 8) | bytes[2 * i + 1]!).toString(16)).join(':')
      const guard = createGuard([`${net}/${bits}`])
      const oracle = new BlockList()
      oracle.addSubnet(net, bits, isIPv4(net) ? 'ipv4' : 'ipv6')
      for (const address of [near, other]) {
        if (createGuard([]).refused(address) === undefined || isIPv4(net) !== isIPv4(address)) continue
        assert.equal(
          guard.refused(address) === undefined,
          oracle.check(address, isIPv4(address) ? 'ipv4' : 'ipv6'),
          address,
        )
      }
    }),
    { seed: 7, numRuns: 2_000 },
  )
})
