// Uses of the types in src/react.d.ts: what must compile, and what must not.
import "@react-three/fiber";
import { useRef } from "react";
import type { NeuralMaterial as ThreeMaterial } from "../../src/three.js";
import { NeuralMaterial, forget, preload, useNeuralMaterial } from "../../src/react.js";

export function Check({ wetness }: { wetness: number }) {
  const ref = useRef<ThreeMaterial>(null);
  const shared = useNeuralMaterial("/a.vdg", { split: true });
  void preload("/a.vdg").then((loaded) => loaded.name.length);
  forget("/a.vdg");
  return (
    <mesh material={shared}>
      <NeuralMaterial ref={ref} from="/a.vdg" live={{ wetness }} tile={[4, 4]} environmentIntensity={0.5} flipV link="ws://127.0.0.1/" />
      {/* @ts-expect-error there is no such property */}
      <NeuralMaterial from="/a.vdg" wet />
    </mesh>
  );
}
