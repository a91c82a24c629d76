// Plays one scene: `node scene.mjs NAME`. It ends with 0 where everything was as it should be.

const [name] = process.argv.slice(2);
const { default: play } = await import(`./scenes/${name}.mjs`);
try {
  await play();
  process.exit(0);
} catch (error) {
  console.error(error);
  process.exit(1);
}
