"""The live link: a material that trains or is finished, shown in other programs."""
