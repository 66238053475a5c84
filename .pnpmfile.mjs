// A package is published without the condition under which its sources stand: they are not in it.
export const hooks = {
  beforePacking(manifest) {
    for (const entry of Object.values(manifest.exports)) delete Object(entry)['@service-auth/source'];
    return manifest;
  },
};
